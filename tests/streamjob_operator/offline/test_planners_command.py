"""`streamjob planners` lists every kind, all of it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from streamjob_cli.main import main
from streamjob_planners.kinds import KINDS


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_entry_of_a_registry_is_described_and_nothing_else(kind) -> None:
    assert set(kind.described) == set(kind.names())
    assert kind.default in kind.names()


def test_the_tables_tell_each_entry_and_the_defaults() -> None:
    result = CliRunner().invoke(main, ["planners"], env={"COLUMNS": "240"})
    assert result.exit_code == 0, result.output
    for kind in KINDS:
        assert f"{kind.default} (default)" in result.output
        assert all(name in result.output for name in kind.names())
        assert kind.chosen_by in result.output
    assert "ALBIC paper, section 4.3.1." in result.output


def test_json_has_every_field() -> None:
    told = json.loads(CliRunner().invoke(main, ["planners", "--json"]).output)
    assert list(told) == [kind.name for kind in KINDS]
    for kind in KINDS:
        rows = told[kind.name]["entries"]
        assert sorted(rows) == list(kind.names())
        assert all(row[field] for row in rows.values() for field in ("what", "choose_when", "cost", "source"))
