"""`python -m jobs` without Spark, and what it writes."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import yaml
from jobs import feed, manifest, suite
from jobs.__main__ import main
from jobs.job import Job
from jobs.registry import JOBS
from jobs.trial import Kind, Outcome, Shape

from streamjob_operator.spec import parse_job

KILLS = {"executor killed": 2, "driver killed": 1}


def outcome(moves: int | None, wrong: tuple[str, ...] = ()) -> Outcome:
    shape = Shape(
        query="q",
        operators=("stateStoreSave", "stateStoreSave"),
        state_rows=1_200,
        state_bytes=3_400_000,
        output_rows=1_070,
    )
    counts = {} if moves is None else {"stages": 2, "key_groups": 16}
    return Outcome(
        job="nexmark-5",
        seed=1,
        rows=5_000,
        batches=8,
        took_s=31.4,
        differences=wrong,
        failed_tasks=0,
        shapes=(shape,),
        moves=moves,
        **counts,
    )


def test_list_names_every_job(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [job.name for job in JOBS]


def test_an_unknown_job_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["yaml", "nexmark-6"]) == 2
    assert "job: 'nexmark-6' given; known are" in capsys.readouterr().err


@pytest.mark.parametrize("cluster", [False, True])
def test_every_job_is_a_valid_streamjob(cluster: bool) -> None:
    for job in JOBS:
        parsed = parse_job(yaml.safe_dump(manifest.cluster(job) if cluster else manifest.laptop(job)))
        assert parsed.metadata.name == job.name


def test_feed_writes_the_batches_of_the_seed(tmp_path: Path) -> None:
    words = ["feed", "ysb", "--rate", "1000", "--every", "0.01", "--batches", "3", "--seed", "4"]
    for name in ("one", "other"):
        assert main([*words, "--input", str(tmp_path / name)]) == 0
    files = sorted(file.relative_to(tmp_path / "one") for file in (tmp_path / "one").rglob("*.json"))
    assert list(map(str, files)) == ["campaigns/rows.json", *(f"events/00000{number}.json" for number in range(3))]
    assert all((tmp_path / "one" / file).read_text() == (tmp_path / "other" / file).read_text() for file in files)


def test_a_feed_that_is_started_again_goes_on_behind_what_is_there(tmp_path: Path) -> None:
    """What a job has read already stays as it was read, and topics do not get it twice."""
    words = ["feed", "ads-clicked", "--rate", "1000", "--every", "0.02", "--batches", "2", "--input"]
    assert main([*words, str(tmp_path / "twice")]) == 0
    first = tmp_path / "twice" / "shown" / "000000.json"
    before = first.stat().st_mtime_ns
    assert main([*words, str(tmp_path / "twice")]) == 0
    assert main([*words[:-3], "--batches", "4", "--input", str(tmp_path / "once")]) == 0
    assert first.stat().st_mtime_ns == before
    for stream in ("shown", "clicks"):
        twice, once = (sorted((tmp_path / name / stream).iterdir()) for name in ("twice", "once"))
        assert [file.read_text() for file in twice] == [file.read_text() for file in once]


def test_a_rate_is_kept_that_is_less_than_a_row_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row is the least that can come: it comes later instead."""
    slept_s: list[float] = []
    monkeypatch.setattr(feed.time, "sleep", slept_s.append)
    monkeypatch.setattr(feed.time, "monotonic", lambda: 100.0)
    words = ["feed", "ysb", "--rate", "0.25", "--every", "1", "--batches", "2", "--input", str(tmp_path)]
    assert main(words) == 0
    assert slept_s == [4.0, 8.0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("feed ysb --rate 0", "rate: 0 given; it is more than 0."),
        ("feed ysb --rate nan", "rate: nan given; it is more than 0."),
        ("feed ysb --every 0", "every: 0 given; it is more than 0."),
        ("feed ysb --every inf", "every: inf given; it is more than 0."),
        ("run ysb --batches 0", "batches: 0 given; it is 1 or more."),
        ("run ysb --rows -3", "rows: -3 given; it is 1 or more."),
        ("run ysb --key-groups 0", "key-groups: 0 given; it is 1 or more."),
        ("run ysb --seed -1", "seed: -1 given; it is 0 or more."),
    ],
)
def test_amounts_of_nothing_are_sentences(
    words: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = "--input" if words.startswith("feed") else "--out"
    assert main([*words.split(), where, str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"{sentence}\n"


def test_outcomes_are_kept_by_job_and_kind_and_the_page_says_what_was_not_run(tmp_path: Path) -> None:
    file = tmp_path / "out" / "results.json"
    for one in (outcome(None), outcome(0), outcome(77)):
        suite.keep(one, file)
    killed = dataclasses.replace(outcome(9), harm=KILLS, failed_tasks=3)
    suite.keep(killed, file)
    plain, moved, harmed = (Kind("nexmark-5", *kind) for kind in ((False, False), (True, False), (True, True)))
    assert suite.read(file) == {plain: outcome(None), moved: outcome(77), harmed: killed}
    suite.keep(outcome(5), file.with_name("results-kafka.json"))
    by_time = dataclasses.replace(killed, minutes=2.5, harm={**KILLS, "stall of the broker": 1})
    suite.keep(by_time, file.with_name("results-kafka.json"))
    assert suite.read(file.with_name("results-kafka.json"))[Kind("nexmark-5", True, True, True)] == by_time
    page = tmp_path / "page.md"
    assert main(["page", str(page), "--out", str(file.parent)]) == 0
    harm = "exact, 9 moves, 2 executors killed, 1 driver killed, 1 stall of the broker, 31 s"
    (row,) = (line for line in page.read_text().splitlines() if line.startswith("| `nexmark-5, "))
    assert row == f"| `nexmark-5, kafka` | 2.5 | 5,000 rows in 8 batches | {harm} |"
    assert main(["page", str(page), "--out", str(tmp_path / "none")]) == 0
    assert row in page.read_text()  # it stays where no run tells
    assert "Not run: `albic-1`" in page.read_text()
    lines = (tmp_path / "page.md").read_text().splitlines()
    (row,) = (line for line in lines if line.startswith("| `nexmark-5` |"))
    shape = "2 aggregations | 2 | 16 | 1,200 rows, 3.4 MB | 5,000 rows in 8 batches | 1,070 rows"
    with_kills = "exact, 9 moves, 2 executors killed, 1 driver killed, 31 s"
    assert row.endswith(f"| {shape} | exact, 31 s | exact, 77 moves, 31 s | {with_kills} | exact, 5 moves, 31 s |")
    assert sum(line.endswith("| not run | not run | not run | not run |") for line in lines) == len(JOBS) - 1


def row_of(page: Path, job: str) -> str:
    (row,) = (line for line in page.read_text().splitlines() if line.startswith(f"| `{job}` |"))
    return row


def test_what_no_run_tells_stays_as_the_page_has_it(tmp_path: Path) -> None:
    page, out = tmp_path / "page.md", tmp_path / "out"
    wrong = dataclasses.replace(outcome(9), harm=KILLS, differences=("q: 1 | 2 differ",))
    for one in (outcome(77), wrong):
        suite.keep(one, out / "results.json")
    assert main(["page", str(page), "--out", str(out)]) == 0
    before = row_of(page, "nexmark-5")
    assert "1 \\| 2 differ" in before

    elsewhere = dataclasses.replace(outcome(None), rows=7, took_s=12.0)
    suite.keep(elsewhere, tmp_path / "other" / "results.json")
    assert main(["page", str(page), "--out", str(tmp_path / "other")]) == 0
    assert row_of(page, "nexmark-5") == before.replace("| not run | exact, 77", "| exact, 12 s | exact, 77")

    page.write_text("# Another page\n\n| a | b |\n| --- | --- |\n| `nexmark-5` | 3 |\n")
    assert main(["page", str(page), "--out", str(tmp_path / "none")]) == 0
    assert row_of(page, "nexmark-5").endswith("|  |  |  |  |  |  | not run | not run | not run | not run |")


def test_fill_runs_what_a_column_lacks_and_writes_it_after_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page, out, asked = tmp_path / "page.md", tmp_path / "out", list[tuple[int, bool, str]]()

    def runs(chosen: Sequence[Job], args: argparse.Namespace, moved: bool) -> Iterator[Outcome]:
        for job in chosen:
            asked.append((args.rows, moved, job.name))
            yield dataclasses.replace(outcome(3 if moved else None), job=job.name)
            assert told(job.name)[moved].startswith("exact"), "it is written before the next job begins"

    def told(name: str) -> list[str]:
        """Plain Spark, with moves."""
        return row_of(page, name).split(" | ")[-4:-2]

    monkeypatch.setattr("jobs.wanted.outcomes", runs)
    first, second, *_ = (job.name for job in JOBS)
    words = ["fill", str(page), "--out", str(out), "--rows", "300"]
    assert main([*words, "--vanilla", "--seconds", "0"]) == 0
    assert asked == [(300, False, first)]
    assert (told(first), told(second)) == (["exact, 31 s", "not run"], ["not run", "not run"])
    assert main([*words, "--vanilla"]) == 0
    assert asked == [(300, False, job.name) for job in JOBS]
    assert main([*words, "--vanilla"]) == 0
    assert len(asked) == len(JOBS), "nothing is left"
    assert main([*words, "--seconds", "0"]) == 0
    assert (told(first), told(second)) == (["exact, 31 s", "exact, 3 moves, 31 s"], ["exact, 31 s", "not run"])

    assert main([*words, "--vanilla", "--kill-driver"]) == 2
    assert "no column of plain Spark with kills" in capsys.readouterr().err


def test_kafka_wants_a_broker_and_jars(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "ysb", "--source", "kafka", "--out", str(tmp_path)]) == 2
    assert "source: kafka needs --bootstrap and --jars" in capsys.readouterr().err


def test_a_run_is_exact_when_nothing_is_wrong_and_something_moved() -> None:
    assert outcome(None).exact
    assert outcome(3).exact
    assert not outcome(0).exact
    assert not outcome(3, wrong=("q, batch 1: 1 of 2 rows missing",)).exact
