"""`streamjob planners` lists the registry, all of it."""

from __future__ import annotations

import json

from click.testing import CliRunner

from streamjob_operator.cli import main
from streamjob_planners import registry
from streamjob_planners.catalogue import DESCRIPTIONS


def test_every_planner_of_the_registry_is_described_and_nothing_else() -> None:
    assert set(DESCRIPTIONS) == set(registry.names())


def test_the_table_tells_each_planner_and_the_default() -> None:
    result = CliRunner().invoke(main, ["planners"], env={"COLUMNS": "240"})
    assert result.exit_code == 0, result.output
    assert f"{registry.DEFAULT} (default)" in result.output
    assert all(name in result.output for name in registry.names())
    assert "ALBIC paper, section 4.3.1." in result.output


def test_json_has_every_field() -> None:
    told = json.loads(CliRunner().invoke(main, ["planners", "--json"]).output)
    assert sorted(told) == list(registry.names())
    assert all(row[field] for row in told.values() for field in ("what", "choose_when", "cost", "source"))
