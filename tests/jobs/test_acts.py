"""The plan of harm: by batches, and by chance for some minutes."""

from __future__ import annotations

import random

import pytest
from jobs.acts import SHARE_OF_TIME, STALL_S, STALLED, Harm, Victim, counted, named

EXECUTOR, DRIVER, DRAINED, BROKER, STORE = Victim


def by_batches(batches: int, **harm: int) -> list[tuple[int, Victim]]:
    made = Harm(executors=harm.get("executors", 0), driver=bool(harm.get("driver")))
    return [(act.after, act.victim) for act in made.acts(batches, random.Random(0))]


def test_kills_are_spread_over_the_run_and_the_driver_is_the_last() -> None:
    assert by_batches(8, executors=1, driver=1) == [(2, EXECUTOR), (5, DRIVER)]
    assert by_batches(8, executors=3) == [(2, EXECUTOR), (4, EXECUTOR), (6, EXECUTOR)]
    assert by_batches(1, driver=1) == [(1, DRIVER)]  # before its first batch a driver has nothing to go on from
    assert by_batches(8) == []


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        ({"executors": -1}, r"kill-executors: -1 given; it is 0 or more\."),
        ({"minutes": -0.5}, r"minutes: -0\.5 given; it is 0 or more\."),
        ({"minutes": float("nan")}, r"minutes: nan given"),
        ({"minutes": float("inf")}, r"minutes: inf given"),
        ({"minutes": 1.0, "driver": True}, r"minutes: given with kills by batches"),
    ],
)
def test_what_cannot_be_is_a_sentence(harm: dict[str, float], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Harm(**harm)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(20))
def test_minutes_have_acts_of_every_kind_in_time(seed: int) -> None:
    harm = Harm(minutes=10.0, broker=True)
    acts = harm.acts(200, random.Random(seed))
    assert acts == harm.acts(200, random.Random(seed))
    assert acts != harm.acts(200, random.Random(seed + 1))
    assert counted(acts) == {EXECUTOR.value: 7, DRIVER.value: 4, DRAINED.value: 4, BROKER.value: 7, STORE.value: 7}
    times_s = [act.at_s for act in acts]
    assert times_s == sorted(times_s)
    assert 0 <= times_s[0] <= times_s[-1] <= 600 * SHARE_OF_TIME
    for act in acts:
        assert STALL_S[0] <= act.for_s <= STALL_S[1] if act.victim in STALLED else act.for_s == 0
        assert act.after == 1


def test_files_have_no_broker_and_a_short_time_has_one_of_each_else() -> None:
    acts = Harm(minutes=0.1).acts(2, random.Random(0))
    assert sorted(counted(acts)) == sorted(one.value for one in (EXECUTOR, DRIVER, DRAINED, STORE))
    assert len(acts) == 4


def test_acts_are_counted_in_words() -> None:
    assert named(1, EXECUTOR.value) == "1 executor killed"
    assert named(2, STORE.value) == "2 stalls of the checkpoint store"
