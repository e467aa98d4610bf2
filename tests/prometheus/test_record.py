"""A trace from a real Prometheus: what it scraped is what is recorded."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from e2e.simulated.scripted_agent import CORES
from scraped_driver import Bench

from streamjob_cli.main import main
from streamjob_operator.recording.trace import Trace
from streamjob_operator.recording.trace_file import read_trace

BUSY_S = (0.1, 0.2, 0.3, 0.4)
ROWS = 1000
"""Of each batch of the scripted agent."""


@pytest.fixture
def ran(bench: Bench) -> tuple[Bench, float, int]:
    """A driver that ran some batches: the bench, when it began, and how many there were."""
    begun_s, before = bench.scraped(), bench.agent.batches
    while bench.batches(1, *BUSY_S) - begun_s < 5.0:
        pass
    return bench, begun_s, bench.agent.batches - before


def record(bench: Bench, begun_s: float, path: Path, *more: str) -> Trace:
    since = f"{math.ceil(time.time() - begun_s) + 2}s"
    arguments = ["record", str(path), "--prometheus", bench.settings.url, "--since", since, "--step", "1s"]
    result = CliRunner().invoke(main, [*arguments, "--select", f'pod="driver-{bench.slot}"', *more])
    assert result.exit_code == 0, result.output
    return read_trace(path)


def test_what_was_scraped_is_recorded(ran: tuple[Bench, float, int], tmp_path: Path) -> None:
    bench, begun_s, batches = ran
    trace = record(bench, begun_s, tmp_path / "trace.json", "--name", "orders")
    assert trace.job == "orders"
    known = [one for one in trace.rate if one is not None]
    took_s = trace.step_seconds * len(known)
    assert 0.4 < sum(known) / len(known) / (ROWS * batches / took_s) < 2.0  # a second's growth is extrapolated
    assert trace.executors is not None
    assert {one for one in trace.executors if one is not None} == {2}
    assert trace.batch_seconds is not None
    timed = [one for one in trace.batch_seconds if one is not None]
    assert timed == pytest.approx([0.5] * len(timed), rel=0.01)
    assert trace.batches.slots == CORES


def test_what_batches_are_made_of_is_recorded(ran: tuple[Bench, float, int], tmp_path: Path) -> None:
    """Each batch: 1000 rows, 1 s of key groups, 0.25 s of a stage without any; walls of 0.125 and 0.25 s of 0.5 s."""
    bench, begun_s, _ = ran
    batches = record(bench, begun_s, tmp_path / "trace.json").batches
    free, stage = batches.stages
    assert (free.tasks, free.level, stage.tasks, stage.level) == (None, 0, 4, 1)
    assert free.row_seconds == pytest.approx(0.25 / ROWS, rel=0.05)
    assert stage.row_seconds == pytest.approx(1.0 / ROWS, rel=0.05)
    assert stage.shares == pytest.approx(BUSY_S, rel=0.02)
    assert batches.fixed_seconds == pytest.approx(0.125, rel=0.1)
    assert batches.trigger_seconds == 0.5


def test_of_several_queries_one_must_be_chosen(bench: Bench, tmp_path: Path) -> None:
    bench.scraped()
    first = bench.agent
    bench.batches(2, *BUSY_S)
    first.query = "query-2"
    bench.batches(2, *BUSY_S)
    arguments = ["record", str(tmp_path / "trace.json"), "--prometheus", bench.settings.url, "--since", "10s"]
    result = CliRunner().invoke(main, [*arguments, "--select", f'pod="driver-{bench.slot}"'])
    assert result.exit_code == 2
    assert "query-1, query-2; choose one with --query." in result.output


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--select", 'pod="nobody"'], "has no streamjob_query_batches_total of that time and selection"),
        (["--select", "pod="], "answered 400"),
        (["--since", "1s", "--step", "1m", "--query", "query-1"], "0 steps of 60 s asked for; 2 to 11000 are possible"),
        (["--step", "often"], "'often' given; a duration"),
    ],
)
def test_what_cannot_be_recorded_is_told(bench: Bench, tmp_path: Path, more: list[str], sentence: str) -> None:
    result = CliRunner().invoke(
        main, ["record", str(tmp_path / "trace.json"), "--prometheus", bench.settings.url, "--since", "10s", *more]
    )
    assert result.exit_code == 2
    assert sentence in result.output
    assert not (tmp_path / "trace.json").exists()


def test_a_prometheus_that_is_not_there_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["record", str(tmp_path / "t.json"), "--prometheus", "http://127.0.0.1:9"])
    assert result.exit_code == 2
    assert "does not answer" in result.output


def test_one_source_is_needed(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["record", str(tmp_path / "t.json")])
    assert result.exit_code == 2
    assert "One of --from and --prometheus is needed." in result.output
