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


@pytest.mark.parametrize(
    "kept", [{"rows": 0}, {"slots": 0}, {"executors": 0}, {"rate": -1}, {"largest": 1.0, "shares": [1.0]}, {"tasks": 0}]
)
def test_what_another_version_keeps_otherwise_is_told_and_the_rest_shown(
    monkeypatch: pytest.MonkeyPatch, status: dict[str, Any], kept: dict[str, Any]
) -> None:
    of_stage = {name: value for name, value in kept.items() if name in ("largest", "shares", "tasks")}
    status["scaling"].update({name: value for name, value in kept.items() if name not in of_stage})
    status["scaling"]["stages"][-1].update(of_stage)
    sentence = "what its status keeps of its batches is not as this version keeps it."
    asking = asked(monkeypatch, status, "what-if", "small")
    assert (asking.exit_code, f"Error: small: {sentence}" in asking.stderr) == (1, True), asking.exception
    told = asked(monkeypatch, status, "explain", "small")
    assert (told.exit_code, "ScaleOut: More." in told.stdout, sentence in told.stdout) == (0, True, True)


def test_a_job_that_nobody_looks_at_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was said that the conditions say why, of which there was none."""
    told = asked(monkeypatch, {}, "explain", "small")
    assert "No cycle has been run yet; is there an operator that looks after its namespace?" in told.stdout


def test_a_plan_of_another_version_that_lacks_fields_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    told = asked(monkeypatch, {"lastPlan": {"hash": "abc"}}, "kube", "plan", "small")
    assert (told.exit_code, "Plan abc: -, -" in told.stdout, "None" in told.stdout) == (0, True, False)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--month", "2026-1"), "'2026-1' given; a month such as 2026-01 is needed"),
        (("--month", "2026-13"), "'2026-13' given; a month such as 2026-01 is needed"),
        (("--price", "nan"), "'nan' given; a finite number is needed"),
    ],
)
def test_savings_of_no_month_or_price(monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], sentence: str) -> None:
    told = asked(monkeypatch, {}, "savings", *options)
    assert (told.exit_code, sentence in told.stderr) == (2, True)
