"""How kopf watches for us."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from streamjob_operator.kube.process.handlers import AGAIN_S, make_settings


def test_a_watch_that_is_refused_is_tried_for_ever() -> None:
    """The last attempt would end the operator of all namespaces, when one of them has lost its rights."""
    waits = make_settings().networking.error_backoffs
    assert isinstance(waits, Iterable)
    for _ in range(2):  # of each question
        first = list(itertools.islice(waits, 1000))
        assert (first[: len(AGAIN_S)], set(first[len(AGAIN_S) :])) == (list(AGAIN_S), {30.0})
