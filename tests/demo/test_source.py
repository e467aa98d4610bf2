"""The demo's scans: skewed onto key groups as promised, the same every time, published whole and in order."""

from __future__ import annotations

import itertools
import json
import pathlib
from collections import Counter

import pytest
from source import Director, Phase, Publisher, Skew, depots, prepare, rows
from spark_hash import hash_of_bigint, keys_of, partition_of

SKEW = Skew(partitions=12, hot_every=4, hot_weight=5.0, depots_per_partition=4, pair_ratio=0.5, repeat_ratio=0.05)
PHASES = (
    Phase(name="one", at_least_s=0, at_most_s=2, rows_per_s=100),
    Phase(name="two", at_least_s=0, at_most_s=1, rows_per_s=300),
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


def test_prepared_files_hold_each_phase_rate(tmp_path: pathlib.Path) -> None:
    deliveries = prepare(PHASES, SKEW, tmp_path / "prepared")
    paths = [path for delivery in deliveries for path in delivery.paths]
    assert [len(path.read_text().splitlines()) for path in paths] == [100, 100, 300]
    assert [path.name for path in paths] == ["00000.json", "00001.json", "00002.json"]
    again = prepare(PHASES, SKEW, tmp_path / "again")
    assert [path.read_bytes() for one in again for path in one.paths] == [path.read_bytes() for path in paths]


def publish(tmp_path: pathlib.Path, over: str | None) -> tuple[list[str], list[str]]:
    """Phases that started and files that were published, when the phase `over` is over at once."""
    told: list[str] = []
    director = Director(started=lambda phase: told.append(phase.name), is_over=lambda phase: phase.name == over)
    publisher = Publisher(prepare(PHASES, SKEW, tmp_path / "prepared"), tmp_path / "input", director)
    publisher.start()
    publisher.begin()
    publisher.join(timeout=30)
    assert not publisher.is_alive()
    return told, sorted(path.name for path in (tmp_path / "input").iterdir())


def test_publisher_goes_through_all_phases(tmp_path: pathlib.Path) -> None:
    told, published = publish(tmp_path, over=None)
    assert told == ["one", "two"]
    assert published == ["00000.json", "00001.json", "00002.json"]
    assert json.loads((tmp_path / "input" / "00001.json").read_text().splitlines()[0])["scan"] > 0


def test_phase_that_is_over_leaves_its_other_files(tmp_path: pathlib.Path) -> None:
    assert publish(tmp_path, over="one") == (["one", "two"], ["00000.json", "00002.json"])


def test_stopped_publisher_leaves_the_rest(tmp_path: pathlib.Path) -> None:
    director = Director(started=lambda phase: None, is_over=lambda phase: False)
    publisher = Publisher(prepare(PHASES, SKEW, tmp_path / "prepared"), tmp_path / "input", director)
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
