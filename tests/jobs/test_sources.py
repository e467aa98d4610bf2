"""A run's input in Kafka, without Kafka: how far a query is, and what the topics must hold."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from jobs import topics
from jobs.__main__ import main
from jobs.feed import read_rows
from jobs.job import Batch, Job, Query, Rows
from jobs.sources import Kafka, Source

ROWS: list[Rows] = [[{"k": 1}, {"k": 2}], [{"k": 3}]]
QUERY = Query(name="q", build=lambda read: read("a"), answer=lambda some: [[{"k": 0}] for _ in some])
JOB = Job(
    name="j",
    source="",
    about="",
    streams={"a": "k long"},
    queries=[QUERY],
    generate=lambda rng, rows: iter([{"a": some} for some in ROWS]),
)


class PaperKafka:
    """One partition a topic, and how much of a topic a batch was to take in."""

    def __init__(self) -> None:
        self.held: dict[str, dict[str, Rows]] = {}
        self.most: Any = None

    def publish(self, spark: Any, batches: Sequence[Batch], bootstrap: str, prefix: str) -> None:
        for batch in batches:
            for stream, rows in batch.items():
                self.held.setdefault(topics.topic(prefix, stream), {"0": []})["0"].extend(rows)

    def reader(self, spark: Any, job: Job, folder: Path, bootstrap: str, prefix: str, most: Any, tasks: Any) -> None:
        self.most = most

    def logs(self, spark: Any, bootstrap: str, names: Sequence[str]) -> topics.Logs:
        return {name: self.held[name] for name in names}


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> PaperKafka:
    one = PaperKafka()
    for name in ("publish", "reader", "logs"):
        monkeypatch.setattr(topics, name, getattr(one, name))
    return one


def published(folder: Path, most: int | None = None) -> Source:
    spark: Any = None
    source = Kafka(bootstrap="b", most=most).open(spark, JOB, folder / "in")
    source.publish(0, 1, 2)
    return source


def a_batch(folder: Path, number: int, offset: dict[str, dict[str, int]] | None) -> None:
    checkpoint = folder / "run" / "checkpoint" / "q"
    for name in ("offsets", "commits"):
        (checkpoint / name).mkdir(parents=True, exist_ok=True)
    line = "-" if offset is None else json.dumps(offset)
    (checkpoint / "offsets" / str(number)).write_text(f'v1\n{{"batchTimestampMs": 0, "batchWatermarkMs": 0}}\n{line}')
    (checkpoint / "commits" / str(number)).write_text("v1\n{}")
    output = folder / "run" / "output" / "q"
    output.mkdir(parents=True, exist_ok=True)
    (output / f"batch-{number}.json").write_text('{"k": 0}\n')


def test_a_copy_of_the_input_is_kept_and_a_batch_is_as_large_as_the_largest(paper: PaperKafka, tmp_path: Path) -> None:
    published(tmp_path)
    assert [read_rows(file) for file in sorted((tmp_path / "in" / "a").iterdir())] == ROWS
    assert paper.most == {"a": 2}
    published(tmp_path / "other", most=7)
    assert paper.most == {"a": 7}
    assert len(paper.held) == 2  # no run meets another one's rows


def test_a_driver_that_begins_again_finds_its_topics_filled(paper: PaperKafka, tmp_path: Path) -> None:
    for _ in range(2):
        source = published(tmp_path)
    assert [len(rows["0"]) for rows in paper.held.values()] == [3]
    (name,) = paper.held
    a_batch(tmp_path, 0, {name: {"0": 3}})
    assert source.progress(tmp_path / "run" / "checkpoint" / "q") == (1, 1.0)
    (tmp_path / "in" / "filled").unlink()  # the driver died before all rows were there
    published(tmp_path)
    assert len(paper.held) == 2


def test_progress_is_the_share_of_the_rows_that_were_taken_in(paper: PaperKafka, tmp_path: Path) -> None:
    source, checkpoint = published(tmp_path), tmp_path / "run" / "checkpoint" / "q"
    assert source.progress(checkpoint) == (0, 0.0)
    a_batch(tmp_path, 0, None)
    assert source.progress(checkpoint) == (1, 0.0)
    (name,) = paper.held
    a_batch(tmp_path, 1, {name: {"0": 3}})
    assert source.progress(checkpoint) == (2, 1.0)


def test_rows_that_were_lost_doubled_or_not_taken_in_are_told(paper: PaperKafka, tmp_path: Path) -> None:
    source = published(tmp_path)
    (name,) = paper.held
    a_batch(tmp_path, 0, {name: {"0": 3}})
    assert source.check(tmp_path / "run") == []
    paper.held[name]["0"].append({"k": 3})
    assert source.check(tmp_path / "run") == [f"{name} does not hold the rows that were given, each once"]
    paper.held[name]["0"].pop()
    a_batch(tmp_path, 0, {name: {"0": 2}})
    assert source.check(tmp_path / "run") == ["q: 2 rows of a were taken in, 3 were given"]


def test_a_job_elsewhere_is_fed_by_its_topics_and_checked_against_their_copy(
    paper: PaperKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[Path] = []
    monkeypatch.setattr("jobs.session.alone", lambda jars: contextlib.nullcontext(started.append(jars)))
    monkeypatch.setattr("jobs.__main__.find", lambda _: JOB)
    monkeypatch.setattr("jobs.elsewhere.find", lambda _: JOB)
    words = ["j", "--input", str(tmp_path / "in"), "--source", "kafka", "--bootstrap", "b", "--jars", str(tmp_path)]
    words += ["--topics", "mine"]
    assert main(["feed", *words, "--rate", "1000", "--every", "0.001", "--batches", "2"]) == 0
    assert paper.held == {"mine.a": {"0": [row for rows in ROWS for row in rows]}}
    a_batch(tmp_path, 0, {"mine.a": {"0": 2}})
    check = ["check", *words, "--out", str(tmp_path / "run")]
    assert main(check) == 1
    assert capsys.readouterr().out == "q: 2 rows of a were taken in, 3 were given\n"
    a_batch(tmp_path, 1, {"mine.a": {"0": 3}})
    assert main(check) == 0
    assert capsys.readouterr().out == "j: exact\n"
    assert started == [tmp_path] * 3
    assert main([*check[:4], "--source", "kafka", "--out", str(tmp_path / "run")]) == 2
    assert "source: kafka needs --bootstrap and --jars." in capsys.readouterr().err
