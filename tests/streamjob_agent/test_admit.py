"""Assignments that are just right or just wrong, and how many names a refusal tells."""

from __future__ import annotations

import pytest

from streamjob_agent.admit import View, refusal
from streamjob_agent.wire import Assignment

VIEW = View(
    application_id="a",
    actuation_off=None,
    operators={"q": {0: 2}},
    live=frozenset({"1", "2"}),
    past=frozenset(),
    held={"1": 2},
    accepted={},
)


def refused(**fields: object) -> str | None:
    return refusal(Assignment(generation=1, application_id="a", query_id="q", **fields), VIEW)  # type: ignore[arg-type]


def test_a_drain_down_to_one_executor_is_taken() -> None:
    assert refused(marked_for_removal=("2",), remove=("2",), executors_target=1) is None


@pytest.mark.parametrize(("strangers", "told"), [(9, ""), (10, ""), (11, " and 1 more"), (12, " and 2 more")])
def test_of_many_unknown_executors_ten_are_named_and_the_others_counted(strangers: int, told: str) -> None:
    names = tuple(str(number) for number in range(10, 10 + strangers))
    named = ", ".join(names[:10])
    assert refused(marked_for_removal=names) == (
        f"UnknownExecutor: marked_for_removal names {named}{told}, known are 1, 2"
    )
