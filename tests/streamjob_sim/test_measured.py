"""What the simulated agent tells of a batch is what the batch was made of."""

import numpy as np
import pytest
from sim_worlds import operators, world

from streamjob_sim.job import SimulatedJob
from streamjob_sim.measure import truth


def chained(noise: float = 0.0) -> SimulatedJob:
    first = {"name": "first", "partitions": 16, "recordsPerSlotSecond": 4000, "state": {"initial": "100Mi"}}
    batch = {"trigger": "10s", "fixed": "200ms", "sourceRecordsPerSlotSecond": 20000, "noise": noise}
    job = SimulatedJob(
        world({"operators": operators(first, {**first, "name": "then"}), "batch": batch}), np.random.default_rng(1)
    )
    job.advance(200.0)
    return job


def test_stages_and_the_fixed_part_are_the_batch() -> None:
    job = chained()
    snapshot = truth(job, 60.0)
    assert [(one.operator, one.level) for one in snapshot.stages] == [(None, 0), (0, 1), (1, 2)]
    walls_s = sum(one.wall_s for one in snapshot.stages)
    assert snapshot.rates.mean_batch_s == pytest.approx(0.2 + walls_s)
    source, first, _ = snapshot.stages
    assert source.busy_s == pytest.approx(8 * source.wall_s)  # 4 executors of 2 slots
    assert first.busy_s * snapshot.rates.batches == pytest.approx(snapshot.busy_s[:16].sum())
    assert first.longest_s == pytest.approx(snapshot.busy_s[:16].max() / snapshot.rates.batches)


def test_groups_vary_as_the_world_says() -> None:
    steady, noisy = truth(chained(), 150.0).stages[1], truth(chained(noise=0.3), 150.0).stages[1]
    assert steady.spread_s == pytest.approx(0.0, abs=1e-6)
    assert noisy.spread_s is not None
    assert noisy.spread_s == pytest.approx(0.3 * noisy.busy_s / 16, rel=0.35)


def test_what_a_move_costs_is_warm_up_and_no_load() -> None:
    job = chained()
    before = truth(job, 10.0)
    owner = int(job.agent.seen[3])
    job.agent.adopt(1, {3: (owner + 1) % 4}, {}, None)
    job.advance(job.now_s + 15.0)  # the batch that began just now, and the next one
    after = truth(job, 10.0)
    assert after.warmup_s is not None
    assert np.flatnonzero(after.warmup_s).tolist() == [3]
    assert after.warmup_s[3] == pytest.approx(0.2 + job.state_bytes[3] / 180e6, rel=0.01)
    assert after.busy_s.sum() == pytest.approx(before.busy_s.sum(), rel=0.05)


def test_an_executor_holds_the_key_groups_that_its_next_tasks_are_for() -> None:
    job = chained()
    owner = int(job.agent.seen[3])
    job.agent.adopt(1, {3: (owner + 1) % 4}, {}, None)
    job.agent.release(job.state_bytes, job.fleet.open())
    snapshot = truth(job, 10.0)
    assert snapshot.owners[3] == str(owner)
    assert [one.groups for one in snapshot.executors] == [8 + (at == (owner + 1) % 4) for at in range(4)]


def test_all_that_a_group_sends_is_the_sum_of_its_pairs() -> None:
    snapshot = truth(chained(), 60.0)
    assert snapshot.traffic_bytes is not None
    assert snapshot.traffic_sent_bytes is not None
    assert snapshot.traffic_sent_bytes == pytest.approx(snapshot.traffic_bytes.toarray().sum(axis=1))
    assert (snapshot.traffic_sent_bytes[:16] > 0).all()


@pytest.mark.parametrize(("lag", "told"), [("atEnd", True), ("atBegin", False), ("untold", None)])
def test_lag_is_told_as_the_source_tells_it(lag: str, told: bool | None) -> None:
    job = SimulatedJob(world({"batch": {"trigger": "10s", "lag": lag}}), np.random.default_rng(1))
    job.advance(204.0)
    rows, newest = truth(job, 60.0).rates.lag_rows, job.batches[-1]
    assert (rows is None) == (told is None)
    if told is not None:
        assert rows == pytest.approx(newest.waiting if told else 0.0)
        assert newest.waiting > 0


def test_the_batch_that_runs_is_told() -> None:
    job = SimulatedJob(world({"batch": {"trigger": "10s"}}), np.random.default_rng(1))
    job.advance(200.0)
    running = truth(job, 60.0).rates.running
    assert running is not None
    assert running.began_at_s == pytest.approx(job.world.start + 200.0)
    assert running.rows == pytest.approx(job.batches[-1].taken, rel=0.2)
    job.advance(209.9)
    assert truth(job, 60.0).rates.running is None
