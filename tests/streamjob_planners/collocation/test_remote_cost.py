import dataclasses

import numpy as np
import pytest

from streamjob_planners.collocation.remote_cost import Evidence, Reading, learned, seconds_per_byte

COST = 2e-7


def reading(seed: int, *, cost: float = COST, n: int = 200, nodes: int = 5, noise: float = 0.02) -> Reading:
    """Two operators; the second takes twice as long for a record; each group reads a random part from elsewhere."""
    rng = np.random.default_rng(seed)
    operator = np.arange(n) % 2
    records = rng.lognormal(8.0, 0.5, n)
    total = 500.0 * records
    remote = total * rng.uniform(0.0, 1.0, n)
    work = 0.01 + records * np.where(operator == 1, 2e-4, 1e-4) * rng.lognormal(0.0, noise, n)
    return Reading(
        operator=operator,
        node_of=rng.integers(nodes, size=n),
        busy_s=work + cost * remote,
        records=records,
        total_bytes=total,
        remote_bytes=remote,
    )


def after(*readings: Reading) -> float:
    evidence = Evidence()
    for one in readings:
        evidence = learned(evidence, one)
    return seconds_per_byte(evidence)


def test_nothing_is_promised_without_evidence() -> None:
    assert seconds_per_byte(Evidence()) == 0.0
    assert after(reading(0, n=8)) == 0.0


def test_a_planted_cost_is_found_and_not_exceeded() -> None:
    found = after(*(reading(seed) for seed in range(5)))
    assert 0.95 * COST < found <= COST * 1.001


def test_without_noise_one_window_is_enough() -> None:
    assert after(reading(1, noise=0.0)) == pytest.approx(COST, rel=1e-6)


def test_noise_alone_promises_next_to_nothing() -> None:
    found = [after(reading(seed, cost=0.0, noise=0.2)) for seed in range(40)]
    assert sum(one > 0.0 for one in found) <= 4
    assert max(found) < 0.2 * COST


def test_key_groups_that_all_read_the_same_part_tell_nothing() -> None:
    one = reading(2)
    assert after(dataclasses.replace(one, remote_bytes=one.total_bytes)) == 0.0
    assert after(dataclasses.replace(one, remote_bytes=np.zeros_like(one.total_bytes))) == 0.0


def test_a_slow_executor_is_not_taken_for_the_price_of_remote_reads() -> None:
    """Everything on the slow executor is remote, little is elsewhere, and remote reads cost nothing."""
    one = reading(3, cost=0.0)
    slow = one.node_of == 0
    remote = one.total_bytes * np.where(slow, 0.9, 0.1) * np.random.default_rng(3).uniform(0.9, 1.0, slow.size)
    found = after(dataclasses.replace(one, busy_s=one.busy_s * np.where(slow, 2.0, 1.0), remote_bytes=remote))
    assert found < 0.2 * COST


def test_the_estimate_is_bounded_by_the_time_that_readers_were_busy() -> None:
    one = reading(4)
    absurd = dataclasses.replace(one, busy_s=1e-3 * one.busy_s + 10.0 * COST * one.remote_bytes)
    assert after(absurd) * absurd.remote_bytes.sum() <= 0.8001 * absurd.busy_s.sum()


def test_a_cost_that_goes_away_is_forgotten() -> None:
    evidence = Evidence()
    for seed in range(10):
        evidence = learned(evidence, reading(seed))
    for seed in range(40):
        evidence = learned(evidence, reading(seed, cost=0.0))
    assert seconds_per_byte(evidence) < 0.05 * COST


def test_more_key_groups_than_are_looked_at_give_the_same_answer() -> None:
    assert after(reading(5, n=20_000, noise=0.0)) == pytest.approx(COST, rel=1e-6)


@pytest.mark.parametrize("part", [0.0, 1e-3, 1.0])
def test_what_was_learned_stays_while_windows_tell_nothing(part: float) -> None:
    """Everything is local, next to everything, or remote to the same part: a success of collocation, at first."""
    evidence = Evidence()
    for seed in range(5):
        evidence = learned(evidence, reading(seed))
    before = seconds_per_byte(evidence)
    for seed in range(60):
        one = reading(seed, noise=0.2)
        remote = part * (one.total_bytes if part == 1.0 else one.remote_bytes)
        work_s = one.busy_s - COST * one.remote_bytes
        evidence = learned(evidence, dataclasses.replace(one, remote_bytes=remote, busy_s=work_s + COST * remote))
    assert seconds_per_byte(evidence) == pytest.approx(before, rel=0.05)


def test_a_single_loud_window_does_not_outweigh_what_follows() -> None:
    loud = reading(0, cost=3.0 * COST)
    loud = dataclasses.replace(loud, remote_bytes=5.0 * loud.remote_bytes, busy_s=5.0 * loud.busy_s)
    evidence = learned(Evidence(), loud)
    for seed in range(1, 60):
        evidence = learned(evidence, reading(seed))
    assert seconds_per_byte(evidence) == pytest.approx(COST, rel=0.15)
