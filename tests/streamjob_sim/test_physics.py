import numpy as np
import pytest
from sim_worlds import HOT, operators, run, world

from streamjob_planners.batch.schedule import finish_s
from streamjob_sim.fleet import Life
from streamjob_sim.job import SimulatedJob
from streamjob_sim.shapes import Arrival, Skew, Spikes, Step, Wave, arrivals, shares, shifted


def simulated(changes: dict[str, object] | None = None, seed: int = 1) -> SimulatedJob:
    return SimulatedJob(world(changes), np.random.default_rng(seed))


def test_tasks_are_scheduled_on_the_slot_that_is_free_first() -> None:
    tasks_s, owner = np.array([3.0, 1.0, 1.0, 1.0, 5.0]), np.array([0, 0, 0, 0, 1])
    assert finish_s(tasks_s, owner, np.array([2, 2])).tolist() == [3.0, 5.0]
    assert finish_s(tasks_s, owner, np.array([1, 1])).tolist() == [6.0, 5.0]
    # In the order of partitions: the long task comes last, so it starts late.
    assert finish_s(np.array([1.0, 1.0, 1.0, 3.0]), np.zeros(4, dtype=int), np.array([2])).tolist() == [4.0]


def test_steps_waves_and_spikes_shape_the_arrivals() -> None:
    arrival = Arrival(
        rate=10.0,
        steps=(Step(at_s="100s", rate=20.0),),
        wave=Wave(amplitude=0.5, period_s="100s"),
        spikes=Spikes(every_s="150s", length_s="10s", factor=3.0),
    )
    arrived = arrivals(arrival, 200.0, np.random.default_rng(0))
    rate = np.diff(arrived)
    assert arrived[0] == 0.0
    assert rate[:100].sum() == pytest.approx(1000.0)
    assert rate[25] == pytest.approx(15.0)
    assert rate[150] == pytest.approx(20.0 * 3)  # the wave crosses its middle
    assert rate[160] < 40.0


def test_noise_keeps_the_mean() -> None:
    arrived = arrivals(Arrival(rate=100.0, noise=0.3), 20_000.0, np.random.default_rng(0))
    rate = np.diff(arrived)
    assert rate.mean() == pytest.approx(100.0, rel=0.01)
    assert rate.std() == pytest.approx(30.0, rel=0.05)


def test_shares_sum_to_one_and_hot_partitions_get_theirs() -> None:
    chance = np.random.default_rng(0)
    assert shares(Skew(), 8, chance).tolist() == [0.125] * 8
    hot = shares(Skew(hot_partitions=2, hot_share=0.5), 10, chance)
    assert hot.sum() == pytest.approx(1.0)
    assert np.sort(hot)[-2:].sum() == pytest.approx(0.5 + 2 * 0.05)
    zipf = shares(Skew(exponent=1.0, keys=500), 20, chance)
    assert zipf.sum() == pytest.approx(1.0)
    assert zipf.max() > 3 * np.median(zipf)


def test_a_pattern_slides_without_a_jump() -> None:
    share, skew = np.array([1.0, 0.0, 0.0, 0.0]), Skew(shift_every_s="10s", shift_by=1)
    assert shifted(share, skew, 5.0).tolist() == [0.5, 0.5, 0.0, 0.0]
    assert shifted(share, skew, 20.0).tolist() == [0.0, 0.0, 1.0, 0.0]


def test_a_batch_takes_its_fixed_part_and_the_longest_executor() -> None:
    job = simulated()
    job.advance(60.0)
    batch = job.batches[-1]
    # 32 groups on 4 executors of 2 slots: 4 tasks in a row, each 40000 / 32 records at 1000/s, and 5 ms.
    assert batch.length_s == pytest.approx(0.2 + 4 * (40_000 / 32 / 1000 + 0.005))
    assert batch.started_s % 10 == pytest.approx(0.0)


def test_a_slow_executor_holds_the_batch_up() -> None:
    plain, slow = simulated(), simulated({"executors": {"speeds": {"2": 0.5}}})
    plain.advance(40.0)
    slow.advance(40.0)
    assert slow.batches[0].length_s > 1.9 * plain.batches[0].length_s


def test_batches_that_overrun_take_all_that_has_arrived() -> None:
    job = simulated({"arrival": {"rate": 20_000}})
    job.advance(600.0)
    lengths_s = [batch.length_s for batch in job.batches]
    assert lengths_s == sorted(lengths_s)
    assert lengths_s[-1] > 100.0
    assert job.batches[-1].waiting > job.batches[0].waiting


def test_a_bounded_batch_leaves_the_rest_waiting() -> None:
    job = simulated({"batch": {"maxRecords": 10_000}})
    job.advance(300.0)
    assert max(batch.taken for batch in job.batches) == 10_000
    # Arrived 4000/s, taken 1000/s.
    assert job.batches[-1].waiting == pytest.approx(3000 * 290, rel=0.1)


def test_a_moved_group_pays_once_for_its_state() -> None:
    job = simulated({"costs": {"moveFixed": "1s", "moveBytesPerSecond": "1Mi"}})
    job.advance(11.0)
    job.agent.adopt(1, {0: 3}, {}, None)
    job.advance(59.0)
    first = [batch.task_s[0] for batch in job.batches]
    assert [batch.moves for batch in job.batches] == [0, 1, 0, 0, 0]
    assert first[1] - first[0] == pytest.approx(2.0)
    assert first[2] == pytest.approx(first[0])
    assert job.agent.seen[0] == 3


def test_moves_are_paced_and_may_be_disobeyed() -> None:
    job = simulated({"agent": {"movesPerBatch": 2, "disobey": 0.5}, "duration": "20m"})
    job.advance(11.0)
    job.agent.adopt(1, dict.fromkeys(range(0, 12, 4), 3), {}, None)
    job.advance(600.0)
    assert max(batch.moves for batch in job.batches) <= 2
    assert sum(batch.moves for batch in job.batches) == 3
    assert job.agent.goals == {}


def test_remote_reads_cost_and_one_to_one_can_be_local() -> None:
    pair = operators({"name": "one"}, {"name": "two", "traffic": "OneToOne", "recordBytes": 100})
    job = simulated({"operators": pair})
    records, owner = np.ones(64), np.arange(64) % 4
    assert job.stages.remote_bytes(records, owner, 4).sum() == 0.0
    apart = np.where(np.arange(64) < 32, owner, (owner + 1) % 4)
    assert job.stages.remote_bytes(records, apart, 4).tolist() == [0.0] * 32 + [100.0] * 32
    full = simulated({"operators": operators({"name": "one"}, {"name": "two", "traffic": "Full"})})
    assert full.stages.remote_bytes(records, owner, 4)[32:].sum() == pytest.approx(3200 * 0.75)


def test_new_executors_come_late_and_get_nothing_by_themselves() -> None:
    job = simulated()
    job.advance(100.0)
    job.fleet.request(5, 100.0)
    job.advance(129.0)
    assert job.fleet.ready().sum() == 4
    job.advance(300.0)
    assert job.fleet.ready().sum() == 5
    assert job.agent.holds(4) == 0
    assert job.fleet.spent_s(300.0) == pytest.approx(4 * 300 + 170)


def test_the_first_task_on_each_slot_of_a_new_executor_takes_longer_once() -> None:
    """It loads classes, however few rows there are: four key groups come, two of them run first."""
    changes = {"costs": {"moveFixed": "0s", "moveBytesPerSecond": "1Ti"}}
    job = simulated({**changes, "executors": {"startup": "1s", "coldFactor": 1, "coldStart": "3s"}})
    job.fleet.request(5, 0.0)
    job.advance(11.0)
    job.agent.adopt(1, dict.fromkeys((0, 8, 16, 24), 4), {}, None)
    job.advance(39.0)
    before, first, later = list(job.batches)[:3]
    extra_s = first.task_s - before.task_s
    assert extra_s[[0, 8, 16, 24]] == pytest.approx([3.0, 3.0, 0.0, 0.0], abs=1e-3)
    assert extra_s.sum() == pytest.approx(6.0, abs=1e-3)
    # The agent tells it as loading, not as the key groups' own work.
    assert (first.loading_s - before.loading_s).sum() == pytest.approx(6.0, abs=1e-3)
    assert first.length_s == pytest.approx(max(before.length_s, 0.2 + 3.0 + 2 * before.task_s[0]), abs=1e-3)
    assert later.task_s == pytest.approx(before.task_s)


def test_a_dead_executor_is_replaced_and_its_groups_go_to_the_others() -> None:
    job = simulated({"faults": [{"kind": "ExecutorDeath", "at": "65s", "executor": "1"}]})
    job.advance(64.0)
    assert job.agent.holds(1) == 8
    job.advance(80.0)
    assert job.fleet.executors[1].life is Life.DEAD
    assert job.agent.holds(1) == 0
    assert np.bincount(job.agent.registered).max() <= 11
    assert max(batch.length_s for batch in job.batches) > 3 + job.batches[0].length_s
    job.advance(120.0)
    assert job.fleet.ready().sum() == 4


def test_a_job_without_any_executor_waits_for_one() -> None:
    lonely = {
        "executors": {"initial": 1, "startup": "60s"},
        "policy": {"executors": {"min": 1, "max": 1}},
        "arrival": {"rate": 500},
        "faults": [{"kind": "ExecutorDeath", "at": "100s"}],
    }
    job = simulated(lonely)
    job.advance(158.0)
    assert not job.fleet.ready().any()
    batches = len(job.batches)
    job.advance(400.0)
    assert len(job.batches) > batches
    assert set(job.agent.seen.tolist()) == {1}


def test_nothing_arrives_and_nothing_runs() -> None:
    assert run({"arrival": {"rate": 0}, "duration": "5m"}).batches == ()


def test_the_same_seed_gives_the_same_run() -> None:
    noisy = {"operators": operators({"skew": HOT}), "batch": {"noise": 0.1}, "arrival": {"noise": 0.1}}
    one, same, other = (run(noisy, planner="greedy", seed=seed) for seed in (3, 3, 4))
    assert [batch.end_s for batch in one.batches] == [batch.end_s for batch in same.batches]
    assert [batch.end_s for batch in one.batches] != [batch.end_s for batch in other.batches]
