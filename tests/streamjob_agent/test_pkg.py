"""What the two operators of a split key do with rows and state, without Spark."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from streamjob_agent.pkg import CANDIDATE, _part, _whole


class State:
    """A group's state as Spark gives it."""

    def __init__(self) -> None:
        self.exists = False
        self.get: tuple[Any, ...] = ()

    def update(self, values: tuple[Any, ...]) -> None:
        self.exists, self.get = True, values


def _update(rows: pd.DataFrame, held: tuple[int, int] | None) -> tuple[int, int]:
    n, total = held or (0, 0)
    return n + len(rows), total + int(rows["v"].sum())


def _merge(first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
    return first[0] + second[0], first[1] + second[1]


def _given(operator: Any, group: tuple[Any, ...], frame: pd.DataFrame, state: State) -> list[tuple[Any, ...]]:
    out = list(operator(group, iter([frame]), state))
    return [tuple(row) for one in out for row in one.itertuples(index=False)]


def test_a_part_goes_on_from_what_it_holds() -> None:
    part, state = _part("k", ["n", "total"], _update), State()
    rows = pd.DataFrame({"k": ["a", "a"], "v": [3, 4], CANDIDATE: [1, 1]})
    assert _given(part, ("a", 1), rows, state) == [("a", 1, 2, 7)]
    assert _given(part, ("a", 1), rows, state) == [("a", 1, 4, 14)]


def test_the_whole_is_the_newest_of_both_parts() -> None:
    whole, state = _whole("k", ["n", "total"], _merge), State()

    def parts(*rows: tuple[int, int, int]) -> pd.DataFrame:
        return pd.DataFrame([("a", *row) for row in rows], columns=["k", CANDIDATE, "n", "total"])

    assert _given(whole, ("a",), parts((0, 2, 7)), state) == [("a", 2, 7)]
    assert _given(whole, ("a",), parts((5, 1, 1)), state) == [("a", 3, 8)]
    assert _given(whole, ("a",), parts((0, 4, 14), (5, 3, 9)), state) == [("a", 7, 23)]
    assert state.get == (True, True, 4, 14, 3, 9)


@pytest.mark.parametrize("times", [1, 3])
def test_the_same_parts_again_change_nothing(times: int) -> None:
    whole, state = _whole("k", ["n"], lambda a, b: (a[0] + b[0],)), State()
    frame = pd.DataFrame({"k": ["a", "a"], CANDIDATE: [0, 2], "n": [4, 6]})
    for _ in range(times):
        assert _given(whole, ("a",), frame, state) == [("a", 10)]
