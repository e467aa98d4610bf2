"""The probe's text about a plan: names in it are the job's, and may hold any character."""

from __future__ import annotations

from streamjob_agent.plan_form import KeyColumn
from streamjob_agent.spark.shape import read_plan

ODD = "a\x1eb\u2028c\x85d\re=f"


def test_any_character_may_stand_in_a_columns_name() -> None:
    lines = ["L\t0\t-1\t", f"O\t0\tStateStoreSaveExec\t8\t0={ODD}", "B\t1"]
    plan = read_plan("\n".join([*lines, ""]), "q", "name")
    assert plan is not None
    assert plan.operators[0].key == (KeyColumn(number=0, name=ODD),)
