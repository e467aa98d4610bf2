"""The proof of the Kafka job's sums finds what is right and what is not; the producer is a `cat` here."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from e2e.suite import topic
from e2e.suite.topic import Topic


@pytest.fixture
def sent(tmp_path: Path) -> Path:
    return tmp_path / "sent"


@pytest.fixture
def readings(tmp_path: Path, sent: Path, monkeypatch: pytest.MonkeyPatch) -> Topic:
    """Two hundred readings, sent to a file."""
    monkeypatch.setattr(topic, "CATCH_UP_S", 0.0)
    to_file = SimpleNamespace(command=["sh", "-c", f'cat > "{sent}"', "sh"])
    made = Topic(to_file, tmp_path)  # type: ignore[arg-type]
    made.put(200)
    made.rate = 0
    made.start()
    made.end()
    (tmp_path / "totals").mkdir()
    return made


def _sums(sent: Path) -> dict[str, tuple[int, int]]:
    counts: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    for line in sent.read_text().splitlines():
        sensor, _, reading = line.partition(":")
        counts[sensor] += 1
        sums[sensor] += int(reading)
    return {sensor: (counts[sensor], sums[sensor]) for sensor in counts}


def _write(folder: Path, batch: int, sums: dict[str, tuple[int, int]]) -> None:
    rows = [{"sensor": sensor, "readings": count, "total": total} for sensor, (count, total) in sums.items()]
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "totals" / f"batch-{batch}.json").write_text(text)


def test_right_sums_are_right_and_the_newest_ones_count(readings: Topic, sent: Path, tmp_path: Path) -> None:
    sums = _sums(sent)
    _write(tmp_path, 9, dict.fromkeys(sums, (1, 1)))
    _write(tmp_path, 10, sums)
    proof = readings.prove()
    assert (proof.mistakes, proof.scans, proof.batches) == ((), 200, 2)


def test_a_wrong_sum_is_named(readings: Topic, sent: Path, tmp_path: Path) -> None:
    sums = _sums(sent)
    sensor, (count, total) = next(iter(sums.items()))
    _write(tmp_path, 0, {**sums, sensor: (count, total + 1)})
    assert readings.prove().mistakes == (f"{sensor}: {(count, total)} is right, {(count, total + 1)} was computed",)


def test_readings_that_are_not_taken_in_are_told(readings: Topic, sent: Path, tmp_path: Path) -> None:
    sums = _sums(sent)
    sensor = next(iter(sums))
    _write(tmp_path, 0, {name: one for name, one in sums.items() if name != sensor})
    with pytest.raises(AssertionError, match="of 200 readings were taken in"):
        readings.prove()
