"""Scaling rules on real Spark: what arrives, what a run was worth, and the twin on paper."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.event_log import Batch, Life, Task
from benchmarks.event_log import Told as Log
from benchmarks.rules_on_spark import page, picture, taught, twin, waiting
from benchmarks.rules_on_spark.course import LEAD_S, Course, course
from benchmarks.rules_on_spark.figures import curves, figures
from benchmarks.rules_on_spark.quick import behavior, rules
from benchmarks.rules_on_spark.shape import FASTER, MOST
from benchmarks.rules_on_spark.systems import NAMES, systems

from streamjob_operator.scaling.rivals.hpa_behavior import Behavior


def test_rows_are_due_by_the_area_under_the_rates() -> None:
    rising = Course(name="x", at_s=np.array([0.0, 10.0, 20.0]), rate_rps=np.array([10.0, 10.0, 30.0]))
    assert [rising.rows_until(at_s) for at_s in (0.0, 5.0, 10.0, 15.0, 20.0, 99.0)] == [0, 50, 100, 175, 300, 300]


def test_a_course_begins_with_a_lead_in_at_the_traces_first_rate() -> None:
    found = course("flash-crowd", 1, 1000.0, 300.0)
    assert found.ends_s == LEAD_S + 300.0
    assert found.rows_until(LEAD_S) == pytest.approx(LEAD_S * found.rate_rps[0], abs=1)
    assert found.rate_rps.max() > 2 * found.rate_rps[0]


def test_a_trace_that_there_is_not_is_told() -> None:
    with pytest.raises(ValueError, match="'nonsense' given; known are diurnal"):
        course("nonsense", 1, 1000.0, 300.0)


def batch(number: int, began_s: float, took_s: float, rows: int) -> Batch:
    return Batch(query="q", number=number, began_s=began_s, took_s=took_s, rows=rows, state_rows=0)


def test_a_row_is_as_old_as_the_end_of_its_batch_says() -> None:
    arrivals = [(100.0, 0), (110.0, 10), (120.0, 20), (130.0, 40)]
    batches = [batch(0, 110.0, 5.0, 10), batch(1, 120.0, 4.0, 10), batch(2, 130.0, 12.0, 20)]
    lives = [
        Life(executor="0", from_s=90.0, until_s=None),
        Life(executor="1", from_s=90.0, until_s=125.0),
        Life(executor="2", from_s=128.0, until_s=200.0),
    ]
    found = figures(batches, lives, arrivals, (115.0, 130.0), objective_s=10.0)
    # Ten rows of the second batch, 4 s old, and twenty of the third, 12 s old.
    assert found.late_rows == pytest.approx(2 / 3)
    assert (found.age_p50_s, found.age_p99_s) == (12.0, 12.0)
    assert found.executor_s == pytest.approx(15.0 + 10.0 + 2.0)
    assert (found.least, found.most, found.came, found.went) == (1, 2, 1, 1)
    assert found.lag_end_rows == 20
    assert found.batch_p50_s == 4.0
    seen = curves(batches, lives, (115.0, 130.0))
    assert seen.executors == ((0.0, 2), (10.0, 1), (13.0, 2))
    # The second batch took in what came since the first began, at 110.
    assert seen.oldest_s == ((9.0, 14.0), (27.0, 22.0))


def test_rows_that_no_batch_took_in_are_told() -> None:
    with pytest.raises(ValueError, match="10 of 20 rows were taken in"):
        figures([batch(0, 1.0, 1.0, 10)], [], [(0.0, 0), (1.0, 20)], (0.0, 1.0), 10.0)


def test_fast_time_divides_every_time_of_kubernetes() -> None:
    usual, quick = Behavior(), behavior(10.0)
    assert quick.down_window_s == usual.down_window_s / 10
    assert [one.period_s for one in (*quick.up, *quick.down)] == [1.5, 1.5, 1.5]
    assert [one.value for one in quick.up] == [one.value for one in usual.up]
    assert rules("keda", 10.0).name == "keda"
    assert rules("utilization", 10.0).name == "utilization"


def test_who_looks_from_outside_sees_what_no_batch_has_taken_in(tmp_path: Path) -> None:
    """Whatever Spark says: it holds a batch's end against what there was when the batch began."""
    checkpoint, file = tmp_path / "checkpoint", tmp_path / "given"
    for folder in ("commits", "offsets"):
        (checkpoint / folder).mkdir(parents=True)
    assert waiting.lag_rows(file, checkpoint) == 0.0
    waiting.tell(file, 70)
    assert waiting.lag_rows(file, checkpoint) == 70.0
    (checkpoint / "offsets" / "0").write_text(
        'v1\n{"batchTimestampMs": 1, "batchWatermarkMs": 0}\n{"clicks": {"0": 20, "1": 30}}', encoding="utf-8"
    )
    assert waiting.lag_rows(file, checkpoint) == 70.0  # the batch is under way
    (checkpoint / "commits" / "0").write_text("v1\n{}", encoding="utf-8")
    assert waiting.lag_rows(file, checkpoint) == 20.0


@dataclasses.dataclass
class Told:
    """A situation with nothing in it but `snapshot.rates.lag_rows`."""

    lag_rows: float | None = None
    rates: Told | None = None
    snapshot: Told | None = None


def test_kedas_rule_goes_by_what_is_seen_from_outside() -> None:
    seen: list[float | None] = []

    class Looks:
        name = "keda"

        def decide(self, situation: Any, state: Any) -> Any:
            seen.append(situation.snapshot.rates.lag_rows)
            return state, {}

    told: Any = Told(snapshot=Told(rates=Told(lag_rows=0.0)))
    rule = waiting.FromOutside(Looks(), lambda: 6125.0)
    assert (rule.name, rule.decide(told, None)) == ("keda", (None, {}))
    assert (seen, told.snapshot.rates.lag_rows) == ([6125.0], 0.0)
    assert isinstance(rules("keda", 10.0, lambda: 0.0), waiting.FromOutside)
    assert rules("utilization", 10.0, lambda: 0.0).name == "utilization"


def log(parts: list[list[int]], cold_s: dict[int, float]) -> Log:
    """Batches of key groups' rows, two on each executor, each task 0.1 s and 2 ms a row, half a second beside; executor
    1 comes with the batches in `cold_s`, under another name each time, and these take so much longer."""
    batches, tasks, name = [], [], "1"
    for number, rows in enumerate(parts):
        name = f"came-{number}" if number in cold_s else name
        took_s = [0.1 + 0.002 * one for one in rows]
        took_s[1] += cold_s.get(number, 0.0)
        for partition, (each, one) in enumerate(zip(rows, took_s, strict=True)):
            tasks.append(task(number, partition, ("0", name)[partition % 2], one, each))
        whole_s = 0.5 + max(took_s[0] + took_s[2], took_s[1] + took_s[3])
        batches.append(batch(number, 10.0 * number, whole_s, sum(rows)))
    return Log(batches=tuple(batches), tasks=tuple(tasks), executors=(), failed_tasks=0)


def task(number: int, partition: int, executor: str, took_s: float, rows: int) -> Task:
    return Task(
        query="q",
        batch=number,
        stage=0,
        last=True,
        partition=partition,
        executor=executor,
        locality="PROCESS_LOCAL",
        took_s=took_s,
        run_s=took_s,
        cpu_s=took_s,
        fetch_wait_s=0.0,
        rows=rows,
        remote_bytes=0,
        local_bytes=0,
    )


def test_a_run_teaches_what_batches_tasks_and_coming_executors_take() -> None:
    swing = [[100, 200, 300, 400], [120, 180, 300, 400]]
    found = taught.taught(log([swing[number % 2] for number in range(40)], {20: 3.0, 30: 5.0}))
    assert (found.fixed_s, found.task_s, found.row_s) == pytest.approx((0.5, 0.1, 0.002))
    assert (found.cold_s, found.executors) == (pytest.approx(4.0), 2)
    # Parts of 0.10 and 0.12, of 0.20 and 0.18: neighbours always differ by 0.02; the other two stay.
    assert found.noise == pytest.approx((0.02 / np.sqrt(2) / 0.11 + 0.02 / np.sqrt(2) / 0.19) / 4)


def test_a_run_of_few_batches_teaches_nothing() -> None:
    with pytest.raises(ValueError, match="batches: 1 with state and without a new executor, two are needed"):
        taught.taught(log([[100, 200, 300, 400]] * 9, {}))


@pytest.mark.parametrize("name", NAMES)
def test_every_system_has_a_twin_that_takes_all_rows_in(name: str) -> None:
    system = next(one for one in systems(MOST, FASTER) if one.name == name)
    found = twin.forecast(course("flash-crowd", 1, 1500.0, 60.0), system, 1)
    assert 1 <= found["least"] <= found["most"] <= MOST
    assert 60.0 <= found["executor_s"] <= 60.0 * MOST
    assert found["age_p50_s"] <= found["age_p99_s"]
    counts = [count for _, count in found["executors"]]
    assert (min(counts), max(counts)) == (found["least"], found["most"])
    assert max(old_s for _, old_s in found["oldest_s"]) >= found["age_p99_s"]


def test_keda_alone_looks_at_kafka_itself() -> None:
    worlds = {one.name: twin.world_of(course("diurnal", 1, 500.0, 60.0), one) for one in systems(MOST, FASTER)}
    assert {name for name, one in worlds.items() if one.batch.lag == "atEnd"} == {"keda"}


def line(system: str, seed: int, executor_s: float, differences: tuple[str, ...] = ()) -> dict[str, Any]:
    figures = {"executor_s": executor_s, "late_rows": 0.1, "age_p50_s": 4.0, "age_p99_s": 9.0, "batch_p50_s": 3.0}
    counts = {"least": 1, "most": 4, "came": 3, "went": 2, "lag_end_rows": 0}
    told = [{**figures, "executor_s": executor_s * part} for part in (0.4, 0.6)]
    piece = {"trace": "diurnal", "system": system, "seed": seed}
    return {**piece, **figures, **counts, "foretold": told, "differences": list(differences)}


def test_a_row_of_the_table_has_means_and_says_what_was_not_exact() -> None:
    lines = [line("keda", 1, 600.0), line("keda", 2, 1200.0, ("batch 3: 1 row missing",)), line("dynamic", 1, 60.0)]
    _, _, keda, dynamic = page.table(lines).splitlines()
    assert "| 15.0 (7.5 ± 3.4) |" in keda
    assert "1 of 2 not" in keda
    assert "| 1.0 (0.5 ± 0.1) |" in dynamic
    assert dynamic.endswith("| yes |")
    assert "NOT exact: batch 3" in page.sentence(lines[1])


def test_what_is_published_replaces_the_table_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(page, "LIMITS", tmp_path / "limits.json")
    page.PAGE.write_text(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n", encoding="utf-8")
    page.publish([line("keda", 1, 600.0)])
    text = page.PAGE.read_text(encoding="utf-8")
    assert text.startswith("before")
    assert text.endswith("after\n")
    assert "\nold\n" not in text
    kept = json.loads(page.LIMITS.read_text(encoding="utf-8"))
    assert kept["diurnal"]["keda"]["executor_s"] == {"mean": 600.0, "spread": 0.0, "trials": 1.0}


def test_a_picture_shows_real_and_foretold_runs(tmp_path: Path) -> None:
    curve = {"executors": [(0.0, 6), (50.0, 3)], "oldest_s": [(5.0, 6.0), (10.0, 12.0)]}
    lines = [{**line("keda", seed, 600.0), **curve, "foretold": [curve]} for seed in (1, 2)]
    picture.draw(lines, {"diurnal": course("diurnal", 1, 1000.0, 300.0)}, 10.0, tmp_path / "runs.png")
    assert (tmp_path / "runs.png").read_bytes().startswith(b"\x89PNG")
