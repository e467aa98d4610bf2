"""What came of the demo: everybody's records, the claims, the report."""

from __future__ import annotations

import dataclasses
import pathlib

from claims import Run, batch_figures, claims, course_figures, reasons
from event_log import read_events
from proof import prove
from rich.console import Console

from streamjob_operator import report_html
from streamjob_operator.history import HistoryFile, read_history


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """When each phase started, when the last one ended, and when the job had taken in everything."""

    phases: dict[str, float]
    ended_s: float
    complete_s: float


def examine(times: Times, out: pathlib.Path) -> Run:
    """Read what everybody recorded, add batches, phases, claims and figures to the history, write the report."""
    run = Run(
        history=read_history(out / "history.jsonl"),
        events=read_events(out / "events", until_s=times.complete_s),
        proof=prove(out / "input", out / "totals"),
        phases=times.phases,
        end_s=times.ended_s,
    )
    history = HistoryFile(out / "history.jsonl")
    for batch in run.events.batches:
        history.note(
            report_html.BATCH,
            batch_id=batch.batch_id,
            ended_at_s=batch.ended_at_s,
            duration_s=batch.duration_s,
            rows=batch.rows,
        )
    for name, at_s in times.phases.items():
        history.note(report_html.PHASE, name=name, at_s=at_s)
    for claim in claims(run):
        history.note(report_html.CLAIM, ok=claim.ok, text=claim.text)
    for figure in batch_figures(run):
        history.note(report_html.FIGURE, **dataclasses.asdict(figure))
    report_html.write_report(out / "history.jsonl", out / "report.html")
    return run


def summarise(run: Run, console: Console) -> None:
    """Claims, figures and reasons on the terminal."""
    console.print()
    for claim in claims(run):
        console.print("[green]✓[/]" if claim.ok else "[red]✗[/]", end=" ")
        console.print(claim.text, markup=False, highlight=False)
    rows = [(figure.name, figure.value, figure.note) for figure in [*batch_figures(run), *course_figures(run)]]
    rows += [
        (f"reason {name}", f"{count} cycles", f"{acted} acted" if acted else "") for name, count, acted in reasons(run)
    ]
    console.print()
    for name, value, note in rows:
        console.print(f"{name:<30} {value:<20} {note}", markup=False, highlight=False)
