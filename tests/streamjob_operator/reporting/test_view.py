"""The live view shows the figures of a cycle, on a terminal and in a log."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable

import numpy as np
import pytest
from rich.console import Console

from streamjob_operator.digest import digest
from streamjob_operator.spec import parse_job
from streamjob_operator.values import CycleRecord, Reason
from streamjob_operator.view import LiveView
from streamjob_operator.view_panels import bar, clock_time, sparkline
from streamjob_planners.batch.by_rows import Line

JOB = parse_job(
    """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {name: parcels}
spec:
  application: {mainFile: job.py}
  executors: {min: 1, max: 4}
  balancing: {objective: loadDistance, maxLoadDistance: 12}
"""
)


def shown(run: tuple[CycleRecord, ...], terminal: bool, width: int = 100) -> str:
    out = io.StringIO()
    view = LiveView(JOB, Console(file=out, force_terminal=terminal, width=width, height=50, color_system=None))
    for record in run:
        view.report(record)
    view.close()
    view.close()
    return out.getvalue()


def test_log_has_one_line_per_cycle_however_narrow(run: tuple[CycleRecord, ...]) -> None:
    lines = shown(run, terminal=False, width=40).splitlines()
    assert len(lines) == len(run)
    assert "hold MetricsUnavailable" in lines[0]
    assert "does not answer" in lines[0]
    assert "ACT  LoadDistance" in lines[2]
    assert "load 0:68% 1:12% 2:12%" in lines[2]
    assert "/12pp" in lines[2]
    assert "executors 2/2+1" in lines[-1]
    assert "2:0%(marked)" in lines[-1]


def test_screen_shows_executors_bound_and_decisions(run: tuple[CycleRecord, ...]) -> None:
    text = shown(run, terminal=True)
    for words in (
        "parcels",
        "of 12 allowed",
        "marked, draining",
        "ExecutorRemoved",
        "ScaleOut",
        "target 2 · ready 2 · marked 1",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("odd", "words"),
    [(0, "seconds, 8 ms in each task  "), (1, ", 1 odd batch left out"), (2, ", 2 odd batches left out")],
)
def test_screen_tells_what_a_line_over_rows_leaves_out(
    make_record: Callable[..., CycleRecord], odd: int, words: str
) -> None:
    line = Line(fixed_ratio=0.7, error_ratio=0.1, task_s=0.008, odd=odd)
    record = dataclasses.replace(make_record("00120012"), lines={"0": line})
    assert words in shown((record,), terminal=True, width=200)


def test_long_message_leaves_time_and_reason_whole(make_record: Callable[..., CycleRecord]) -> None:
    record = make_record(reason=Reason.WAITING_FOR_EXECUTORS, act=False, message="A long sentence. " * 30)
    text = shown((record,), terminal=True, width=80)
    assert "WaitingForExecutors" in text
    assert f"{clock_time(record.at_s)} WaitingForExecutors" in text


def test_digest_measures_what_ran(make_record: Callable[..., CycleRecord]) -> None:
    now = digest(make_record("00120012", "01220112"))
    loads = {one.executor_id: one.load_pct for one in now.executors}
    assert loads == pytest.approx(_by_hand())
    assert now.mean_pct == pytest.approx(100 * 5.5 / 18)
    assert now.distance_pct == pytest.approx(max(abs(load - 100 * 5.5 / 18) for load in loads.values()))
    assert now.moves == 3
    assert now.collocation_pct == pytest.approx(75.0)


def test_digest_counts_traffic_of_pairs_that_nobody_reported(make_record: Callable[..., CycleRecord]) -> None:
    record = make_record("00120012", act=False)
    assert record.snapshot is not None
    sent = np.array([0.0, 0.0, 0.0, 0.0, 30.0, 30.0, 0.0, 0.0])
    seen = dataclasses.replace(record.snapshot, traffic_sent_bytes=sent)
    held = dataclasses.replace(record, snapshot=seen, verdict=dataclasses.replace(record.verdict, plan=None))
    assert digest(held).collocation_pct == pytest.approx(50.0)


def _by_hand() -> dict[str, float]:
    busy = {"0": 2.0 + 1.5, "1": 0.0, "2": 0.0}
    for owner, seconds in zip("120012", (0.5, 0.5, 0.3, 0.3, 0.2, 0.2), strict=True):
        busy[owner] += seconds
    return {owner: 100 * seconds / 6 for owner, seconds in busy.items()}


def test_refused_assignment_shows_the_refusal(make_record: Callable[..., CycleRecord]) -> None:
    record = make_record("00120012", "01220112")
    assert record.receipt is not None
    refused = dataclasses.replace(record.receipt, accepted=False, message="Another driver.")
    now = digest(dataclasses.replace(record, receipt=refused))
    assert (now.acted, now.moves, now.message) == (False, 0, "Another driver.")


def test_lost_owner_counts_for_the_mean_but_for_no_executor(make_record: Callable[..., CycleRecord]) -> None:
    now = digest(make_record("-0120012"))
    assert now.mean_pct == pytest.approx(100 * 5.5 / 18)
    assert sum(one.load_pct for one in now.executors) == pytest.approx(100 * 3.5 / 6)


@pytest.mark.parametrize(("value", "full"), [(-5.0, 0), (0.0, 0), (50.0, 5), (100.0, 10), (250.0, 10)])
def test_bar_never_leaves_its_cells(value: float, full: int) -> None:
    text = bar(value, cells=10)
    assert (text.count("█"), len(text)) == (full, 10)


def test_sparkline_keeps_within_its_range() -> None:
    assert sparkline([0.0, 5.0, 10.0, 99.0], top=10.0) == "▁▅██"
    assert sparkline([0.0], top=0.0) == "▁"
