"""`python -m jobs` without Spark, and what it writes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import yaml
from jobs import manifest, suite
from jobs.__main__ import main
from jobs.registry import JOBS
from jobs.trial import Kind, Outcome, Shape

from streamjob_operator.spec import parse_job


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


def test_outcomes_are_kept_by_job_and_kind_and_the_page_says_what_was_not_run(tmp_path: Path) -> None:
    file = tmp_path / "out" / "results.json"
    for one in (outcome(None), outcome(0), outcome(77)):
        suite.keep(one, file)
    killed = dataclasses.replace(outcome(9), killed_executors=2, killed_drivers=1, failed_tasks=3)
    suite.keep(killed, file)
    plain, moved, harmed = (Kind("nexmark-5", *kind) for kind in ((False, False), (True, False), (True, True)))
    assert suite.read(file) == {plain: outcome(None), moved: outcome(77), harmed: killed}
    suite.keep(outcome(5), file.with_name("results-kafka.json"))
    assert main(["page", str(tmp_path / "page.md"), "--out", str(file.parent)]) == 0
    lines = (tmp_path / "page.md").read_text().splitlines()
    (row,) = (line for line in lines if line.startswith("| `nexmark-5`"))
    shape = "2 aggregations | 2 | 16 | 1,200 rows, 3.4 MB | 5,000 rows in 8 batches | 1,070 rows"
    with_kills = "exact, 9 moves, 2 executors killed, 1 driver killed, 31 s"
    assert row.endswith(f"| {shape} | exact, 31 s | exact, 77 moves, 31 s | {with_kills} | exact, 5 moves, 31 s |")
    assert sum(line.endswith("| not run | not run | not run | not run |") for line in lines) == len(JOBS) - 1


def test_kafka_wants_a_broker_and_jars(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "ysb", "--source", "kafka", "--out", str(tmp_path)]) == 2
    assert "source: kafka needs --bootstrap and --jars" in capsys.readouterr().err


def test_a_run_is_exact_when_nothing_is_wrong_and_something_moved() -> None:
    assert outcome(None).exact
    assert outcome(3).exact
    assert not outcome(0).exact
    assert not outcome(3, wrong=("q, batch 1: 1 of 2 rows missing",)).exact
