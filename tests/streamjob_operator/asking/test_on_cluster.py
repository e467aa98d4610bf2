"""`streamjob what-if` and `explain` of a StreamJob: what its status says, and what it does not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result
from worlds import even, job, warm

from streamjob_cli.main import main
from streamjob_operator.kube.kubectl import cli
from streamjob_operator.kube.report.scaling import scaling_of


def document(status: dict[str, Any]) -> dict[str, Any]:
    return {
        "metadata": {"name": "small", "namespace": "shop"},
        "spec": {"executors": {"min": 1, "max": 6}},
        "status": status,
    }


@pytest.fixture
def status() -> dict[str, Any]:
    of, world = job(), even(2, 4, 30.0)
    warm(world, of)
    kept = scaling_of(world.turn(of))
    assert kept is not None
    cycle = {"reason": "ScaleOut", "message": "More.", "at": "2026-01-01T00:00:00Z"}
    return {
        "phase": "Running",
        "lastCycle": cycle,
        "scaling": kept.model_dump(mode="json", by_alias=True, exclude_none=True),
    }


def asked(monkeypatch: pytest.MonkeyPatch, status: dict[str, Any], *arguments: str) -> Result:
    class Session:
        def __init__(self, *_: object) -> None:
            pass

        def read(self, _: str) -> dict[str, Any]:
            return document(status)

    monkeypatch.setattr(cli, "Session", Session)
    return CliRunner().invoke(main, list(arguments), env={"COLUMNS": "200"})


def test_a_status_answers(monkeypatch: pytest.MonkeyPatch, status: dict[str, Any]) -> None:
    result = asked(monkeypatch, status, "what-if", "small", "--rate", "2x", "--objective", "4s", "--output", "json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["job"] == "small"
    assert found["rate_rps"] == pytest.approx(2 * found["today_rps"])
    assert found["needed"] >= 2


def test_explain_shows_the_arithmetic_below_the_reason(monkeypatch: pytest.MonkeyPatch, status: dict[str, Any]) -> None:
    result = asked(monkeypatch, status, "explain", "small")
    assert result.exit_code == 0, result.output
    assert "ScaleOut: More." in result.output
    assert "small: how" in result.output
    assert "1 to 6 are allowed" in result.output


def test_of_a_job_without_batches_only_the_reason_is_told(
    monkeypatch: pytest.MonkeyPatch, status: dict[str, Any]
) -> None:
    del status["scaling"]
    result = asked(monkeypatch, status, "explain", "small")
    assert "ScaleOut: More." in result.output
    assert "small: how" not in result.output
    result = asked(monkeypatch, status, "what-if", "small")
    assert result.exit_code == 1
    assert "small has no batches yet that can be predicted." in result.output
