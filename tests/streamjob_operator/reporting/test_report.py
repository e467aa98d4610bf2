"""The report holds every figure and every reason, in one file that loads nothing from anywhere."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser

import pytest

from streamjob_operator import report_html
from streamjob_operator.digest import CycleDigest, ExecutorDigest, digest
from streamjob_operator.history import HistoryError, HistoryFile, read_history
from streamjob_operator.report_html import write_report
from streamjob_operator.report_plots import INK, Batch, Phase, Timeline, batch_times, loads, svg
from streamjob_operator.spec import parse_job
from streamjob_operator.values import CycleRecord

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


BY_TIME = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {name: parcels}
spec: {application: {mainFile: job.py}, executors: {min: 1, max: 4}}
"""


class Page(HTMLParser):
    """Text, tags that are open, and addresses that a browser would load."""

    VOID = ("meta", "br", "hr", "img", "link", "input")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.open: list[str] = []
        self.loads: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href") and value and not value.startswith("#"):
                self.loads.append(value)
            if name == "id" and value:
                self.ids.append(value)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def page_of(path: pathlib.Path) -> Page:
    return Page(write_report(path, path.parent / "out" / "report.html").read_text())


def test_report_tells_everything(tmp_path: pathlib.Path, run: tuple[CycleRecord, ...]) -> None:
    history = HistoryFile(tmp_path / "history.jsonl", JOB)
    for record in run:
        history.report(record)
    history.note("phase", name="noon", at_s=1006.0)
    history.note("batch", ended_at_s=1007.0, duration_s=2.5)
    history.note("batch", ended_at_s=1010.0, duration_s=1.5)
    history.note("claim", ok=False, text="A <claim> that failed.")
    history.note("figure", name="scans", value="41,234")
    page = page_of(history.path)
    assert page.open == []
    assert page.loads == []
    for words in (
        "parcels",
        "37.8 → 4.2 pp",
        "bound 12",
        "2.00 / 2.45 s",
        "2 batches",
        "1 drained and removed",
        "noon",
    ):
        assert words in page.text
    for words in ("MetricsUnavailable", "does not answer", "ScaleOut", "✗ A <claim> that failed.", "41,234"):
        assert words in page.text
    assert all(record.verdict.message in page.text for record in run)


def test_plots_on_one_page_share_no_id(tmp_path: pathlib.Path, run: tuple[CycleRecord, ...]) -> None:
    history = HistoryFile(tmp_path / "history.jsonl", JOB)
    for record in run:
        history.report(record)
    text = write_report(history.path, tmp_path / "report.html").read_text()
    plots = re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)
    hashed = [set(re.findall(r'id="([mp][0-9a-f]{10})"', plot)) for plot in plots]
    assert len(plots) == 7
    assert sum(map(len, hashed)) == len(set.union(*hashed))


def test_same_history_same_report(tmp_path: pathlib.Path, run: tuple[CycleRecord, ...]) -> None:
    history = HistoryFile(tmp_path / "history.jsonl", JOB)
    for record in run:
        history.report(record)
    pages = [write_report(history.path, tmp_path / name).read_text() for name in ("a.html", "b.html")]
    assert pages[0] == pages[1]


def test_a_run_that_never_measured_anything_has_a_report(tmp_path: pathlib.Path, unmeasured: CycleRecord) -> None:
    history = HistoryFile(tmp_path / "history.jsonl")
    history.report(unmeasured)
    assert "MetricsUnavailable" in page_of(history.path).text


def test_a_page_says_that_older_cycles_are_gone(tmp_path: pathlib.Path, run: tuple[CycleRecord, ...]) -> None:
    history = HistoryFile(tmp_path / "history.jsonl", JOB)
    for record in run:
        history.report(record)
    assert "too large" not in page_of(history.path).text
    history.most_bytes = history.path.stat().st_size
    history.report(run[-1])
    gone = len(run) + 1 - len(read_history(history.path).cycles)
    assert f"its {gone} oldest cycles are gone" in page_of(history.path).text


def test_a_long_table_tells_its_newest_cycles(
    tmp_path: pathlib.Path, run: tuple[CycleRecord, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamjob_operator.report_html.MOST_ROWS", 2)
    history = HistoryFile(tmp_path / "history.jsonl")
    for record in run:
        history.report(record)
    page = page_of(history.path)
    assert "The newest cycles" in page.text
    assert f"{len(run) - 2} earlier ones are in the history." in page.text
    told = [record.verdict.message in page.text.split("The newest cycles")[1] for record in run]
    assert told[-2:] == [True, True]


def test_history_that_cannot_be_read_is_named(tmp_path: pathlib.Path) -> None:
    with pytest.raises(HistoryError, match="gone"):
        write_report(tmp_path / "gone.jsonl", tmp_path / "report.html")


def test_a_job_line_of_another_version_is_told(tmp_path: pathlib.Path, run: tuple[CycleRecord, ...]) -> None:
    history = HistoryFile(tmp_path / "history.jsonl")
    history.note("job", name="orders", planner="search")
    history.report(run[0])
    with pytest.raises(HistoryError, match=r"history.jsonl: the job's line was written by another version"):
        write_report(history.path, tmp_path / "report.html")


def test_a_report_that_cannot_be_written_leaves_the_one_before(
    tmp_path: pathlib.Path, run: tuple[CycleRecord, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a full disk: half of a page was in its place."""
    history, report = HistoryFile(tmp_path / "history.jsonl", JOB), tmp_path / "report.html"
    history.report(run[0])
    report.write_text("of the run before")
    monkeypatch.setattr(report_html, "render", lambda _: "no text in UTF-8: \ud800")
    with pytest.raises(UnicodeEncodeError):
        write_report(history.path, report)
    assert report.read_text() == "of the run before"


def test_where_the_time_of_batches_decides_no_load_distance_is_a_bound(
    tmp_path: pathlib.Path, run: tuple[CycleRecord, ...]
) -> None:
    job = parse_job(BY_TIME)
    history = HistoryFile(tmp_path / "history.jsonl", job)
    for record in run:
        history.report(record)
    page = page_of(history.path)
    assert "objective batchTime · 1 to 4 executors by the rule batch-time" in page.text
    assert "bound 1" not in page.text


def test_labels_of_batches_that_are_cut_off_do_not_meet() -> None:
    """The last two of a run were written over each other, and over the legend."""
    seconds = [1.0] * 97 + [30.0, 40.0, 1.0]
    told = tuple(Batch(ended_at_s=1000.0 + at_s, duration_s=took_s) for at_s, took_s in enumerate(seconds))
    drawn = svg(batch_times, Timeline(cycles=(), batches=told, phases=(), bound_pct=None))
    assert re.findall(r"[0-9.]+ s ↑", drawn) == ["40.0 s ↑"]
    assert re.search(r"text-anchor: end[^>]*>40.0 s ↑", drawn)


def test_names_with_dollars_are_drawn_as_they_are() -> None:
    """They are no formulas, and one that cannot be read ended the report."""
    phase = Phase(name="$\\frac{ costs$", at_s=0.0)
    assert "costs$" in svg(batch_times, Timeline(cycles=(), batches=(), phases=(phase,), bound_pct=None))


def test_a_days_executors_that_came_and_went_are_drawn_as_their_spread(make_record: Callable[..., CycleRecord]) -> None:
    """A line and a name in the legend for each of them hid all others and took minutes."""
    one = digest(make_record())
    cycles = tuple(
        dataclasses.replace(one, at_s=1000.0 + 3600.0 * hour, executors=tuple(_named(one, hour))) for hour in range(25)
    )
    drawn = svg(loads, Timeline(cycles=cycles, batches=(), phases=(), bound_pct=None))
    assert "middle half of executors" in drawn
    assert "executor 7" not in drawn
    assert "hours since the first measurement" in drawn
    few = svg(loads, Timeline(cycles=cycles[:5], batches=(), phases=(), bound_pct=None))
    assert "executor 7" not in few
    assert "executor 6" in few


def _named(cycle: CycleDigest, first: int) -> Iterator[ExecutorDigest]:
    for number, executor in enumerate(cycle.executors, first):
        yield dataclasses.replace(executor, executor_id=str(number))


@pytest.mark.parametrize(("batches", "lines"), [(2000, True), (2001, False)])
def test_a_line_goes_through_batches_that_can_be_told_apart(batches: int, lines: bool) -> None:
    told = tuple(Batch(ended_at_s=1000.0 + at_s, duration_s=1.0 + at_s % 3) for at_s in range(batches))
    drawn = svg(batch_times, Timeline(cycles=(), batches=told, phases=(), bound_pct=None))
    assert (f"stroke: {INK}; stroke-width: 0.8; stroke-linecap: square" in drawn) is lines
