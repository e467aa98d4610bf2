"""The demo's scans: skewed onto key groups as promised, the same every time, published whole and in order."""

from __future__ import annotations

import itertools
import json
import pathlib
from collections import Counter

import pytest
from source import Director, Phase, Publisher, Skew, depots, rows
from spark_hash import hash_of_bigint, keys_of, partition_of

SKEW = Skew(partitions=12, hot_every=4, hot_weight=5.0, depots_per_partition=4, pair_ratio=0.5, repeat_ratio=0.05)
PHASES = (
    Phase(name="one", at_most_s=0.2, rows_per_s=1000, tick_s=0.1),
    Phase(name="two", at_most_s=0.1, rows_per_s=3000, tick_s=0.1),
)


def test_key_groups_are_as_hot_as_promised() -> None:
    scans = list(itertools.islice(rows(SKEW), 12_000))
    share = Counter(partition_of(scan["depot"], 12) for scan in scans)
    hot = [share[partition] / 12_000 for partition in (0, 4, 8)]
    cool = [share[partition] / 12_000 for partition in range(12) if partition % 4]
    assert hot == pytest.approx([5 / 24] * 3, abs=0.02)
    assert cool == pytest.approx([1 / 24] * 9, abs=0.02)


def test_every_key_group_has_its_depots() -> None:
    numbers, weights = depots(SKEW)
    assert len(set(numbers)) == len(weights) == 48
    assert set(Counter(partition_of(number, 12) for number in numbers).values()) == {4}


def test_scans_pair_key_groups_and_repeat() -> None:
    scans = list(itertools.islice(rows(SKEW), 6_000))
    paired = sum(partition_of(s["scan"], 12) == (partition_of(s["depot"], 12) + 1) % 12 for s in scans)
    assert paired / 6_000 == pytest.approx(0.5 + 0.5 / 12, abs=0.03)
    times = Counter(scan["scan"] for scan in scans)
    assert set(times.values()) == {1, 2}
    assert sum(count == 2 for count in times.values()) / len(times) == pytest.approx(0.05, abs=0.02)


def publish(folder: pathlib.Path, over: str | None = None) -> tuple[list[str], list[int]]:
    """Phases that started, and scans of each file, when the phase `over` is over at once."""
    told: list[str] = []
    director = Director(started=lambda phase: told.append(phase.name), is_over=lambda phase: phase.name == over)
    publisher = Publisher(PHASES, SKEW, folder, director)
    publisher.start()
    publisher.begin()
    publisher.join(timeout=30)
    assert not publisher.is_alive()
    return told, [len(path.read_text().splitlines()) for path in sorted(folder.iterdir())]


def test_publisher_goes_through_all_phases_after_a_first_file(tmp_path: pathlib.Path) -> None:
    assert publish(tmp_path / "input") == (["one", "two"], [1000, 100, 100, 300])
    assert [path.name for path in tmp_path.iterdir()] == ["input"]


def test_the_same_scans_are_published_every_time(tmp_path: pathlib.Path) -> None:
    for folder in ("input", "again"):
        publish(tmp_path / folder)
    first, again = (sorted((tmp_path / folder).iterdir()) for folder in ("input", "again"))
    assert [path.name for path in first] == ["00000.json", "00001.json", "00002.json", "00003.json"]
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in first]
    assert json.loads(first[1].read_text().splitlines()[0])["scan"] > 0


def test_a_phase_that_is_over_publishes_no_more(tmp_path: pathlib.Path) -> None:
    assert publish(tmp_path / "input", over="one") == (["one", "two"], [1000, 300])


def test_stopped_publisher_leaves_the_rest(tmp_path: pathlib.Path) -> None:
    director = Director(started=lambda phase: None, is_over=lambda phase: False)
    publisher = Publisher(PHASES, SKEW, tmp_path / "input", director)
    publisher.start()
    publisher.stop()
    publisher.join(timeout=30)
    assert len(list((tmp_path / "input").iterdir())) == 1


@pytest.mark.parametrize(
    ("key", "hashed"), [(0, -1670924195), (1, -1712319331), (42, 1316951768), (2**40 + 7, None), (-5, None)]
)
def test_hash_is_within_32_bits_and_known(key: int, hashed: int | None) -> None:
    assert -(2**31) <= hash_of_bigint(key) < 2**31
    assert hashed is None or hash_of_bigint(key) == hashed


def test_keys_of_a_partition_are_ascending_and_its_own() -> None:
    keys = list(itertools.islice(keys_of(3, 12, start=100), 20))
    assert keys == sorted(keys)
    assert keys[0] >= 100
    assert {partition_of(key, 12) for key in keys} == {3}
