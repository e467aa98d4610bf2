"""A trace of a run is its twin: replayed under the same policy, it gives the same batches and executors."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sim_worlds import elastic, merged, world

from streamjob_cli.main import main
from streamjob_operator.history import HistoryFile
from streamjob_operator.recording.from_history import trace_of_history
from streamjob_operator.recording.trace import Trace
from streamjob_operator.recording.trace_file import write_trace
from streamjob_sim.batch import Batch
from streamjob_sim.replay.command import names_of
from streamjob_sim.replay.planner import LevelPlanning
from streamjob_sim.replay.run import Replayed, for_replay, late_times, replay, with_rule
from streamjob_sim.replay.side_by_side import Asked, replay_all
from streamjob_sim.score import Score
from streamjob_sim.simulate import job_of, simulate
from streamjob_sim.world import COLD_JVM

PERIOD = {"statisticsPeriod": "2m", "planDeadline": "20s", "maxIterations": 2000}
RISE = {
    "duration": "1h",
    "operators": [
        {"name": "count", "partitions": 32, "recordsPerSlotSecond": 1000, "skew": {"keys": 2000, "exponent": 0.6}}
    ],
    "arrival": {"rate": 3000, "steps": [{"at": "20m", "rate": 8000}]},
    # By batch time six executors are just enough for the backlog, or just not, and chance decides which.
    "policy": {**elastic("utilization"), "balancing": PERIOD},
}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Score, Path]:
    """The run that is recorded, with chance in it and executors that start as a replay has it, and its history."""
    given = world(merged(RISE, {"batch": {"noise": 0.1}, "executors": dict(COLD_JVM)}))
    job = for_replay(job_of(given))
    score = simulate(given, job, None, 1, planning=LevelPlanning())
    history = HistoryFile(tmp_path_factory.mktemp("run") / "history.jsonl", job)
    for turn in score.turns:
        if turn.record is not None:
            history.report(turn.record)
    return score, history.path


@pytest.fixture(scope="module")
def trace(first: tuple[Score, Path]) -> Trace:
    return trace_of_history(first[1], None)


@pytest.fixture(scope="module")
def twin(trace: Trace) -> Replayed:
    return replay("twin", trace, job_of(world(RISE)), 10.0, startup_s=30.0)


def lengths_s(batches: tuple[Batch, ...]) -> list[float]:
    return [one.length_s for one in batches for _ in range(one.times)]


def test_what_was_recorded_is_what_was_there(trace: Trace) -> None:
    assert trace.step_seconds == pytest.approx(120.0, rel=0.1)
    assert trace.batches.slots == 2
    assert trace.batches.trigger_seconds == 10.0
    assert trace.known_rates()[2] == pytest.approx(3000.0, rel=0.02)
    assert trace.known_rates()[-2] == pytest.approx(8000.0, rel=0.05)
    (stage,) = trace.batches.stages
    assert stage.tasks == 32
    assert stage.row_seconds + stage.fixed_seconds / 80_000 == pytest.approx(1e-3, rel=0.05)


@pytest.mark.parametrize(("percent", "within"), [(10, 0.10), (50, 0.10), (90, 0.20)])
def test_a_twin_takes_the_same_batches(first: tuple[Score, Path], twin: Replayed, percent: int, within: float) -> None:
    """The recorded run has chance in it, which a replay leaves out: its long batches are less long."""
    measured, replayed = (np.percentile(lengths_s(one.batches), percent) for one in (first[0], twin.score))
    assert replayed == pytest.approx(measured, rel=within)


def test_a_twin_has_the_same_executors_but_for_chance(first: tuple[Score, Path], twin: Replayed) -> None:
    """One more or fewer where chance, which a replay leaves out, made a batch of the backlog longer."""
    apart = [abs(one.executors - other.executors) for one, other in zip(first[0].turns, twin.score.turns, strict=False)]
    assert apart.count(0) >= 0.8 * len(apart)
    assert max(apart) <= 1
    assert twin.executor_h == pytest.approx(first[0].executor_s / 3600.0, rel=0.10)


def test_late_times_are_those_above_the_objective(twin: Replayed) -> None:
    assert twin.late
    assert max(one.worst_batch_s for one in twin.late) == pytest.approx(max(lengths_s(twin.score.batches)))
    assert 1200.0 <= twin.late[-1].from_s < twin.late[-1].to_s
    assert not list(late_times(twin.score.batches, 1e6))


def test_replays_stand_beside_what_was_recorded(trace: Trace, tmp_path: Path) -> None:
    path, page = tmp_path / "trace.json", tmp_path / "deep" / "replay.html"
    short = trace.model_copy(
        update={
            "rate": trace.rate[:6],
            "lag": None,
            "executors": trace.executors and trace.executors[:6],
            "batch_seconds": None,
        }
    )
    write_trace(path, short)
    arguments = ["replay", str(path), "--price", "0.5", "--plot", str(page), "--output", "json"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    (run,) = found["runs"]
    assert run["cost"] == pytest.approx(0.5 * run["executor_h"])
    assert found["recorded"]["executor_h"] == pytest.approx(4 * short.duration_s / 3600, rel=0.5)
    assert "<svg" in page.read_text()


MONDAY_S = 1_767_610_800.0
"""2026-01-05 11:00 UTC."""
AT_NOON = {"cron": "0 12 * * MON", "duration": "30m", "executors": 4}


def test_windows_and_hints_see_the_weekday_and_the_hour_of_the_trace(trace: Trace) -> None:
    """Two quiet hours from Monday 11:00 on: at noon a hint asks for executors that rows do not."""
    quiet = trace.model_copy(
        update={"start": MONDAY_S, "rate": (1000.0,) * 60, "lag": None, "executors": None, "batch_seconds": None}
    )
    job = job_of(world(merged(RISE, {"policy": {"scaling": {"rule": "batch-time", "hints": [AT_NOON]}}})))
    turns = replay("hinted", quiet, job, 10.0, startup_s=30.0).score.turns
    held = [one.at_s for one in turns if one.wanted is not None and one.wanted >= 4]
    assert held
    assert 3600.0 - 300.0 <= min(held) <= 3600.0 + 300.0


def test_runs_side_by_side_are_those_one_by_one(trace: Trace) -> None:
    short = trace.model_copy(update={"rate": trace.rate[:4], "lag": None, "executors": None, "batch_seconds": None})
    rules = ("ds2", "utilization")
    asked = [
        Asked(name=one, job=with_rule(job_of(world(RISE)), one), objective_s=10.0, startup_s=30.0) for one in rules
    ]
    told: list[str] = []
    together = replay_all(short, asked, lambda run: told.append(run.name))
    alone = [replay_all(short, [one], lambda _: None)[0] for one in asked]
    assert told == [one.name for one in together] == list(rules)
    assert [figures(one) for one in together] == [figures(one) for one in alone]


def figures(run: Replayed) -> dict[str, object]:
    skipped = ("score", "elapsed_s")
    return {one.name: getattr(run, one.name) for one in dataclasses.fields(run) if one.name not in skipped}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.json"], "nowhere.json: cannot be read"),
        (["nowhere.json", "--rule", "best"], "Invalid value for '--rule'"),
        (["nowhere.json", "--objective", "soon"], "'soon' given; a duration"),
        (["nowhere.json", "--objective", "0s"], "'0s' given; more than 0s is needed"),
        (["nowhere.json", "--startup", "2h"], "'2h' given; at most 1h is needed"),
        (["nowhere.json", "--price", "nan"], "'nan' given; a finite number is needed"),
        (["nowhere.json", "--price", "inf"], "'inf' given; a finite number is needed"),
        (["nowhere.json", "--price", "-1"], "Invalid value for '--price'"),
        (["nowhere.json", "--plot", "runs.txt"], "a name that ends with .png, .svg, .pdf, .html is needed"),
    ],
)
def test_bad_input_is_told(arguments: list[str], sentence: str) -> None:
    result = CliRunner().invoke(main, ["replay", *arguments])
    assert result.exit_code == 2
    assert sentence in result.output


TRACE = {
    "kind": "trace",
    "version": 1,
    "job": "tiny",
    "start": 0,
    "stepSeconds": 60,
    "rate": [1.0, 2.0],
    "batches": {"slots": 1, "triggerSeconds": 10, "stages": [{"level": 0, "tasks": 4, "rowSeconds": 0.001}]},
}


def written(folder: Path, **changes: object) -> str:
    (folder / "trace.json").write_text("\ufeff" + json.dumps({**TRACE, **changes}), encoding="utf-8")
    return str(folder / "trace.json")


def test_two_steps_with_a_mark_of_byte_order_are_a_trace(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["replay", written(tmp_path), "--output", "json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["durationSeconds"] == 120.0


@pytest.mark.parametrize(
    ("changes", "rules", "sentence"),
    [
        ({"rate": [1e14, 1.0]}, 1, "This trace cannot be simulated: rate: 1e+14 given; at most 1e+12 is allowed."),
        ({"rate": [1.0, 1e14]}, 2, "This trace cannot be simulated: rate: 1e+14 given; at most 1e+12 is allowed."),
        ({"rate": [1.0]}, 1, "rate: a list given; at least 2 entries are needed."),
    ],
)
def test_what_no_world_can_be_made_of_is_told(
    tmp_path: Path, changes: dict[str, object], rules: int, sentence: str
) -> None:
    """Also where runs have processes of their own."""
    words = [word for rule in ("ds2", "utilization")[:rules] for word in ("--rule", rule)]
    result = CliRunner().invoke(main, ["replay", written(tmp_path, **changes), *words])
    assert isinstance(result.exception, SystemExit), result.exception
    assert (result.exit_code, result.stderr) == (2, f"{tmp_path / 'trace.json'}: {sentence}\n")


def test_policies_of_one_name_are_told_apart_by_their_paths() -> None:
    assert names_of([Path("a/job.yaml"), Path("b/other.yaml")]) == ["job", "other"]
    assert names_of([Path("a/job.yaml"), Path("b/job.yaml")]) == ["a/job.yaml", "b/job.yaml"]
