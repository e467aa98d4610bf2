"""What the first operator of a split key does with rows, without Spark."""

from __future__ import annotations

import pandas as pd

from streamjob_agent.pkg import CANDIDATE, _added_up


def test_rows_of_a_candidate_are_added_up_without_its_number() -> None:
    def part(rows: pd.DataFrame) -> tuple[int, int]:
        assert list(rows.columns) == ["k", "v"]
        return len(rows), int(rows["v"].sum())

    chunks = [pd.DataFrame({"k": ["a", "a"], "v": [3, 4], CANDIDATE: [1, 1]}) for _ in range(2)]
    (out,) = _added_up("k", ["n", "total"], part)(("a", 1), iter(chunks), None)
    assert out.to_dict("records") == [{"k": "a", CANDIDATE: 1, "n": 4, "total": 14}]
