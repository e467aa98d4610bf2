"""Each claim of the demo holds for a run that went well, and fails with a sentence when its part went wrong."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable

import numpy as np
import pytest
from claims import (
    Claim,
    Run,
    balanced,
    batches_since,
    before_and_after,
    course_figures,
    drained,
    exact,
    no_failed_task,
    removed,
    scaled_out,
    settled,
    watched,
    within_budget,
    working,
)
from event_log import Batch, Events
from proof import Proof

from streamjob_operator.history import History
from streamjob_operator.series import BatchSeries
from streamjob_operator.values import CycleRecord, ExecutorView, QueryRates, Reason, Receipt, Snapshot, Verdict
from streamjob_planners.model import Effect, GroupId, Move, MoveReason, Plan

SKEWED, FAIR, WIDE = "0001", "0101", "0123"
EFFECT = Effect(
    load_distance=0,
    load_index=100,
    mean=0,
    max_load=0,
    marked_groups=0,
    collocation_factor=None,
    batch_s=2.0,
    noise_s=0.0,
    level_rms_s=1.0,
)


def series(at_s: float) -> BatchSeries:
    """A batch each second since the beginning."""
    ended = np.arange(1.0, at_s + 0.5)
    ones, none = np.ones(ended.size), np.zeros(ended.size)
    return BatchSeries(
        ended_at_s=ended,
        row_s=ones,
        batches=np.ones(ended.size, dtype=np.int64),
        batch_s=ones,
        busy_s=np.ones((ended.size, 4)),
        records=np.ones((ended.size, 4)),
        input_rows=ones,
        other_busy_s=none,
        moved=none.astype(np.int64),
        executors_changed=none.astype(np.int64),
    )


def snapshot(at_s: float, owners: str) -> Snapshot:
    rates = QueryRates(
        batches=2,
        mean_batch_s=3.0 if owners == SKEWED else 2.0,
        last_batch_s=2.0,
        last_batch_at_s=at_s,
        trigger_interval_s=3.0,
        input_rps=100.0,
        processed_rps=100.0,
        lag_rows=None,
        other_busy_s=0.0,
    )
    return Snapshot(
        taken_at_s=at_s,
        window_s=10.0,
        application_id="app",
        query_id="query",
        run_id="run",
        actuation_on=True,
        actuation_reason="",
        generation_applied=1,
        moves_pending=0,
        executors=tuple(
            ExecutorView(executor_id=name, host="h", cores=1, state="ready", busy_s=1.0) for name in sorted(set(owners))
        ),
        group_ids=tuple(GroupId(operator=0, partition=number) for number in range(4)),
        owners=tuple(owners),
        busy_s=np.full(4, 2.0),
        cpu_s=np.zeros(4),
        records=np.ones(4),
        state_bytes=np.full(4, 512.0),
        traffic_bytes=None,
        rates=rates,
        series=series(at_s),
    )


def cycle(
    at_s: float, owners: str, cost_s: float | None = None, remove: tuple[str, ...] = (), alone_s: float = 0.5
) -> CycleRecord:
    """One cycle; `cost_s` is what a boundary adds, `alone_s` what its first move would."""
    act = cost_s is not None or bool(remove)
    moves = (
        [Move(group=0, source=0, target=1, reason=MoveReason.RELIEVE, cost_s=alone_s, state_bytes=512.0, load=20.0)]
        if cost_s is not None
        else []
    )
    plan = Plan(
        planner="search",
        node_of=np.zeros(4, dtype=np.int64),
        moves=tuple(moves),
        before=EFFECT,
        after=EFFECT,
        lower_bound=None,
        proven_optimal=False,
        notes=(),
        elapsed_s=0.0,
    )
    reason = Reason.BATCH_TIME if act else Reason.BALANCED
    return CycleRecord(
        at_s=at_s,
        snapshot=snapshot(at_s, owners),
        scaling=None,
        verdict=Verdict(
            act=act,
            reason=reason,
            message="",
            plan=plan,
            executors_target=2,
            marked_for_removal=remove,
            remove=remove,
            boundary_s=2.0,
            move_cost_s=() if cost_s is None else (cost_s,),
        ),
        receipt=Receipt(generation=1, accepted=True, reason=reason, message="") if act else None,
        step_seconds={},
    )


CYCLES = (
    cycle(10, SKEWED),
    cycle(20, SKEWED, cost_s=1.5),
    cycle(30, FAIR),
    cycle(110, FAIR, remove=("2",)),
    cycle(210, WIDE),
)
BATCHES = tuple(Batch(batch_id=n, started_at_s=3.0 * n, duration_s=3.0 - n / 10, rows=300) for n in range(14))


@pytest.fixture
def run() -> Run:
    """Skewed, balanced, scaled out, drained, all well."""
    return Run(
        history=History(cycles=CYCLES, notes=()),
        events=Events(batches=BATCHES, tasks=100, failed_tasks=(), added=("0", "1"), removed={"2": "decommissioned"}),
        proof=Proof(lines=10, repeats=1, scans=9, depots=2, batches=3, mistakes=()),
        phases={"day": 0.0, "night": 100.0, "rush hour": 200.0},
        end_s=300.0,
    )


def with_cycles(run: Run, *cycles: CycleRecord) -> Run:
    return dataclasses.replace(run, history=dataclasses.replace(run.history, cycles=cycles))


@pytest.mark.parametrize("claim", [exact, no_failed_task, balanced, within_budget, scaled_out, drained])
def test_good_run_holds(run: Run, claim: Callable[[Run], Claim]) -> None:
    assert claim(run).ok


def test_a_key_group_that_takes_longer_to_load_than_the_budget_moves_alone(run: Run) -> None:
    assert within_budget(with_cycles(run, cycle(10, SKEWED, cost_s=2.5, alone_s=2.5))).ok


Break = Callable[[Run], Run]


@pytest.mark.parametrize(
    ("claim", "breaks", "words"),
    [
        (exact, lambda r: dataclasses.replace(r, proof=dataclasses.replace(r.proof, mistakes=("depot 7",))), "depot 7"),
        (exact, lambda r: dataclasses.replace(r, proof=dataclasses.replace(r.proof, scans=0)), "0 scans"),
        (
            no_failed_task,
            lambda r: dataclasses.replace(r, events=dataclasses.replace(r.events, failed_tasks=("task 3",))),
            "1 of 100 tasks failed, the first: task 3",
        ),
        (
            balanced,
            lambda r: with_cycles(r, cycle(10, FAIR, cost_s=1.0), cycle(20, FAIR)),
            "went from 2.00 to 2.00 s",
        ),
        (
            balanced,
            lambda r: with_cycles(r, cycle(10, SKEWED, cost_s=1.0), cycle(20, SKEWED)),
            "went from 3.00 to 3.00 s, 2.00 s were promised",
        ),
        (balanced, lambda r: with_cycles(r, cycle(10, SKEWED, cost_s=1.0)), "No batch was measured after"),
        (balanced, lambda r: with_cycles(r, cycle(10, SKEWED)), "No key group moved"),
        (within_budget, lambda r: with_cycles(r, cycle(10, SKEWED, cost_s=2.5)), "adds 2.50 s"),
        (within_budget, lambda r: with_cycles(r, cycle(10, SKEWED)), "0 plans"),
        (scaled_out, lambda r: with_cycles(r, cycle(10, WIDE), cycle(210, WIDE)), "0 executors came"),
        (drained, lambda r: with_cycles(r, cycle(10, SKEWED)), "2 were lost without having been drained"),
        (
            drained,
            lambda r: dataclasses.replace(r, events=dataclasses.replace(r.events, removed={})),
            "0 executors marked, drained and removed",
        ),
    ],
)
def test_bad_run_fails_with_a_sentence(run: Run, claim: Callable[[Run], Claim], breaks: Break, words: str) -> None:
    broken = claim(breaks(run))
    assert not broken.ok
    assert words in broken.text


def test_a_phase_is_over_once_it_has_shown_its_part(run: Run) -> None:
    fair = [cycle(at_s, FAIR) for at_s in (40, 50)]
    assert settled(with_cycles(run, *CYCLES[:3], *fair))
    assert not settled(with_cycles(run, *CYCLES[:3], *fair[:1]))  # ten batches since the moves are too few
    assert watched(with_cycles(run, *CYCLES[:2]))
    assert not watched(with_cycles(run, *CYCLES[:1]))
    assert not watched(with_cycles(dataclasses.replace(run, phases={}), *CYCLES[:2]))
    assert removed(run)
    assert working(run)
    assert not settled(run)
    assert not removed(with_cycles(run, *CYCLES[:3]))
    idle = cycle(210, WIDE)
    assert idle.snapshot is not None
    fresh = ExecutorView(executor_id="9", host="h", cores=1, state="ready", busy_s=0.0)
    wider = dataclasses.replace(idle.snapshot, executors=(*idle.snapshot.executors, fresh))
    assert not working(with_cycles(run, *CYCLES[:4], dataclasses.replace(idle, snapshot=wider)))
    assert not working(with_cycles(run, *CYCLES[:4]))


def test_batches_are_counted_over_all_cycles_when_one_knows_the_newest_alone(run: Run) -> None:
    def short(record: CycleRecord) -> CycleRecord:
        assert record.snapshot is not None
        whole = record.snapshot.series
        assert whole is not None
        row = max(0, whole.row_s.size - 12)
        newest = whole.since(float(whole.ended_at_s[row] - whole.row_s[row]))
        return dataclasses.replace(record, snapshot=dataclasses.replace(record.snapshot, series=newest))

    known = with_cycles(run, *(short(cycle(at_s, SKEWED)) for at_s in (10, 20, 30)))
    assert batches_since(known, 0.0) == 30
    assert batches_since(known, 15.0) == 15


def test_before_and_after_leave_out_the_change(run: Run) -> None:
    before, after = before_and_after(run)
    assert [batch.batch_id for batch in before] == [0, 1, 2, 3, 4, 5, 6]
    assert [batch.batch_id for batch in after] == [10, 11, 12, 13]


def test_figures_name_what_was_measured(run: Run) -> None:
    told = {figure.name: (figure.value, figure.note) for figure in course_figures(run)}
    assert told["moves"] == ("1", "0 KiB of state")
    assert told["executors ready over time"][0] == "2 → 4"


def test_job_of_the_demo_is_valid() -> None:
    from demo import OUT
    from watch import SKEW

    from streamjob_operator.spec import read_job

    job = read_job(pathlib.Path(__file__).parents[2] / "samples" / "demo" / "job.yaml")
    assert job.spec.application is not None
    assert str(OUT / "input") in job.spec.application.args
    assert job.spec.application.spark_conf["spark.sql.shuffle.partitions"] == str(SKEW.partitions)
    assert job.spec.executors.max == SKEW.hot_every


def test_modes_of_the_job_are_edited_one_by_one(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import demo

    from streamjob_operator.spec import Mode, read_job

    monkeypatch.setattr(demo, "OUT", tmp_path)
    monkeypatch.setattr(demo, "JOB", tmp_path / "job.yaml")
    demo.write_job(balancing="Auto", scaling="Recommend")
    spec = read_job(tmp_path / "job.yaml").spec
    assert (spec.balancing.mode, spec.scaling.mode) == (Mode.AUTO, Mode.RECOMMEND)
