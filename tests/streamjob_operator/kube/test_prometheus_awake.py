"""Scrapes from before a rest are in no window with those after it."""

from __future__ import annotations

from streamjob_operator.kube.metrics.prometheus import awake
from streamjob_operator.kube.metrics.target import Mark

RUN = ("app", "query", "run")


def marks(*batches: float, run: tuple[str, str, str] = RUN) -> tuple[Mark, ...]:
    return tuple(Mark(at_s=float(at), identity=run, batches=one) for at, one in enumerate(batches))


def test_scrapes_before_a_rest_go_once_a_batch_has_ended_after_it() -> None:
    asleep = marks(1, 2, 2, 2)[-1]
    still = marks(1, 2, 2, 2, 2)
    assert awake(still, None) == awake(still, asleep) == still
    worked = marks(1, 2, 2, 2, 2, 3)
    assert awake(worked, asleep) == worked[3:]


def test_a_rest_of_another_run_is_none_of_this_one() -> None:
    other = marks(5, 5, run=("app", "query", "other"))[-1]
    assert awake(marks(1, 9), other) == marks(1, 9)
