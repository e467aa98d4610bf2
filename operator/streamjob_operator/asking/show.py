"""Answers of the batch model for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamjob_operator.asking.answer import Answer, Backlog
from streamjob_operator.asking.decision import Decided
from streamjob_operator.asking.measured import Measured
from streamjob_operator.asking.predictions import Prediction, predicted
from streamjob_operator.counting import executors
from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.view_panels import DASH, number

GROWS = "grows"


def decision_view(decided: Decided) -> RenderableType:
    """How the number of executors came about: figures, one more and one less, and the sentence."""
    measured = decided.measured
    title = f"{decided.name}: how {executors(decided.target or measured.executors)} came about"
    figures = Table(title=title, title_justify="left", show_header=False)
    for name, value in arithmetic(measured):
        figures.add_row(name, value)
    around = [one for one in (measured.executors - 1, measured.executors, measured.executors + 1) if one >= 1]
    predictions = (predicted(measured, one, measured.rate_rps) for one in around)
    table = predictions_table(predictions, measured.slots, {"today": measured.executors, "wanted": decided.target})
    return Group(figures, table, *(Text(one) for one in decision_sentences(decided)))


def arithmetic(measured: Measured) -> Iterator[tuple[str, str]]:
    """Name and value of each figure, in the order in which they are multiplied and added."""
    work, rows = measured.work, measured.rows
    row_s = float(work.task_row_s.sum()) + sum(one.row_s for one in work.free)
    fixed_s = float(work.task_fixed_s.sum()) + sum(one.fixed_s for one in work.free)
    work_s, slots = fixed_s + row_s * rows, measured.executors * measured.slots
    yield "arrives", f"{measured.rate_rps:,.0f} rows/s"
    yield "a batch", f"{rows:,.0f} rows, measured {measured.batch_s:.2f} s"
    yield "its tasks", f"{work_s:.2f} s = {fixed_s:.2f} s + {rows:,.0f} rows x {1e6 * row_s:.1f} µs"
    yield "slots", f"{slots} = {measured.executors} executors x {measured.slots}"
    yield "evenly spread", f"{work_s / slots:.2f} s = {work_s:.2f} s / {slots}"
    yield "planning and commits", f"{work.fixed_s:.2f} s"
    if measured.trigger_s is not None:
        yield "trigger", format_duration(measured.trigger_s)
    if measured.lag_rows is not None:
        yield "waits", f"{measured.lag_rows:,.0f} rows"


def decision_sentences(decided: Decided) -> Iterator[str]:
    """What the rule asked for and what bounds it, what was decided, how sure predictions are, what else bears."""
    if decided.needed is not None:
        bounds = "" if decided.least is None else f", {decided.least} to {decided.most} are allowed"
        yield f"The rule asks for {decided.needed}{bounds}; {decided.target} are wanted."
    yield f"{decided.reason}: {decided.message}"
    if decided.advice is not None:
        yield decided.advice
    if decided.singles is not None:
        yield decided.singles.sentence
    yield from decided.world


def answer_view(name: str, found: Answer) -> RenderableType:
    """The table, what is needed, and how the backlog goes."""
    title = f"{name}: {found.rate_rps:,.0f} rows/s in place of {found.today_rps:,.0f}"
    table = predictions_table(found.predictions, found.slots, {"today": found.executors, "needed": found.needed})
    table.title, table.title_justify = title, "left"
    return Group(table, *(Text(one) for one in answer_sentences(found)))


def answer_sentences(found: Answer) -> Iterator[str]:
    """What is needed, and the backlog."""
    within = (
        "rows are kept up with" if found.objective_s is None else f"batches take {_seconds(found.objective_s)} at most"
    )
    if found.needed is None:
        yield f"No number of executors up to {found.most:,} is enough so that {within}: {found.why_not}."
    else:
        yield f"{executors(found.needed, 'is', 'are')} needed so that {within}."
    yield backlog_sentence(found.backlog)


def backlog_sentence(backlog: Backlog) -> str:
    """How rows that wait go on."""
    who = f"With {executors(backlog.executors)}"
    if backlog.rows is None and (backlog.grows_rps is None or backlog.grows_rps < 0):
        return f"{who} no backlog comes about; no source tells whether there is one."
    waits = "nothing waits" if not backlog.rows else f"{backlog.rows:,.0f} rows wait"
    if backlog.gone_s is not None:
        return f"{who} {waits}{f', gone after {format_duration(round(backlog.gone_s))}' if backlog.gone_s else ''}."
    if backlog.grows_rps is None:
        return f"{who} {waits}; rows take no time."
    if backlog.grows_rps == 0:
        longer = (
            "each batch is longer than the one before: tasks alone take all of the time in which as many rows arrive"
        )
        return f"{who} {waits}{'' if backlog.rows else ' yet'}, but {longer}."
    course = ", ".join(f"{rows:,.0f} after {format_duration(at_s)}" for at_s, rows in backlog.course)
    return f"{who} rows wait, and more and more of them: {course}."


def predictions_table(predictions: Iterable[Prediction], slots: int, words: Mapping[str, int | None]) -> Table:
    """One line for each number of executors, and beside it each of the words that stands for it."""
    table = Table()
    table.add_column("executors")
    for name in ("slots", "rows", "tasks", "planning", "chance", "batch", "slots busy", "keeps up with"):
        table.add_column(name, justify="right")
    table.add_column("most of it")
    for one in predictions:
        marks = [word for word, number in words.items() if number == one.executors]
        table.add_row(
            f"{one.executors} ({', '.join(marks)})" if marks else str(one.executors),
            str(one.executors * slots),
            number(one.rows, "", 0),
            f"{one.free_s + one.tasks_s:.2f} s",
            f"{one.fixed_s:.2f} s",
            f"{one.chance_s:.2f} s",
            GROWS if one.batch_s is None else f"{one.batch_s:.2f} s",
            f"{one.busy_pct:.0f} %",
            DASH if one.most_rps is None else f"{one.most_rps:,.0f}/s",
            one.binds,
        )
    return table


def _seconds(value: float) -> str:
    return format_duration(float(f"{value:.3g}"))
