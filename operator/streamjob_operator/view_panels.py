"""What the live view shows, as rich renderables made from digests."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Literal

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from streamjob_operator.counting import odd_batches
from streamjob_operator.digest import BatchDigest, CycleDigest, ExecutorDigest
from streamjob_operator.singles import SingleBatches
from streamjob_operator.values import Room
from streamjob_planners.batch.by_rows import Line

BAR_CELLS = 36
SPARKS = "▁▂▃▄▅▆▇█"
EIGHTHS = " ▏▎▍▌▋▊▉"
DASH = "-"
COLUMNS: tuple[Literal["left", "right"], ...] = ("right", "left", "right", "right", "left")


def bar(value_pct: float, cells: int = BAR_CELLS) -> str:
    """A bar of at most `cells` characters for 0 to 100 percent, in steps of an eighth of a character."""
    eighths = round(min(max(value_pct, 0.0), 100.0) / 100.0 * cells * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (EIGHTHS[rest] if rest else "")).ljust(cells)


def sparkline(values: Sequence[float], top: float) -> str:
    """One character for each value, from 0 to `top`."""
    steps = len(SPARKS) - 1
    return "".join(SPARKS[min(steps, max(0, round(value / top * steps)))] if top > 0 else SPARKS[0] for value in values)


def number(value: float | None, unit: str = "", digits: int = 1) -> str:
    """For people: a dash when there is no figure."""
    return DASH if value is None else f"{value:,.{digits}f}{unit}"


def clock_time(at_s: float) -> str:
    """Local time of day."""
    return time.strftime("%H:%M:%S", time.localtime(at_s))


def executors_panel(now: CycleDigest) -> Panel:
    """Load per executor as bars, the mean above them."""
    table = Table.grid(padding=(0, 2))
    for justify in COLUMNS:
        table.add_column(justify=justify, no_wrap=True)
    table.add_row("executor", "0 %" + "100 %".rjust(BAR_CELLS - 3), "load", "key groups", "state", style="dim")
    for executor in now.executors:
        table.add_row(
            executor.executor_id,
            Text(bar(executor.load_pct), style=_load_style(executor)),
            f"{executor.load_pct:.0f} %",
            str(executor.groups),
            Text({"draining": "marked, draining"}.get(executor.state, executor.state), style=_state_style(executor)),
        )
    if not now.executors:
        table.add_row(DASH, "nothing measured yet", "", "", "")
    counts = f"target {now.target if now.target is not None else DASH} · ready {now.ready} · marked {now.marked}"
    return Panel(table, title=f"Load per executor · mean {number(now.mean_pct, ' %', 0)}", subtitle=counts)


def _load_style(executor: ExecutorDigest) -> str:
    if executor.state != "ready":
        return "bright_black"
    return "red" if executor.load_pct > 90 else "yellow" if executor.load_pct > 75 else "green"


def _state_style(executor: ExecutorDigest) -> str:
    return "green" if executor.state == "ready" else "magenta"


def figures_panel(past: Sequence[CycleDigest], bound_pct: float | None, moves_done: int) -> Panel:
    """Load distance and batch time over the last cycles, collocation, rates, moves."""
    now = past[-1]
    distances = [one.distance_pct for one in past if one.distance_pct is not None]
    batches = [one.rates.last_batch_s for one in past if one.rates]
    trigger_s = now.rates.trigger_interval_s if now.rates else None
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    top_pct = max([*distances, 2 * bound_pct if bound_pct else 0.0])
    table.add_row("load distance", _distance_text(now, bound_pct), _trend(distances, top_pct))
    table.add_row("collocation factor", number(now.collocation_pct, " %", 0), "of traffic between key groups is local")
    top_s = max([*batches, trigger_s or 0.0])
    table.add_row("last batch", number(_rate(now, "last_batch_s"), " s"), _trend(batches, top_s))
    if now.batch is not None:
        table.add_row("mean batch", number(now.batch.measured_s, " s"), _predictions(now.batch))
        if now.batch.singles is not None:
            table.add_row("single batches", *_singles(now.batch.singles))
    if now.changed_at_s is not None:
        table.add_row("load shared anew", number(now.at_s - now.changed_at_s, " s", 0), "ago: measured since then")
    if now.level_changed_at_s is not None:
        table.add_row("more or less load", number(now.at_s - now.level_changed_at_s, " s", 0), "ago, for all alike")
    if now.room is not None:
        table.add_row("load survived", *_room(now.room))
    if now.lines is not None:
        table.add_row("without a row", *_by_rows(now.lines))
    rate = number(_rate(now, "input_rps"), " rows/s", 0)
    table.add_row("input", rate, f"a batch every {trigger_s:g} s" if trigger_s else "batches follow each other")
    table.add_row("moves", f"{moves_done} asked", f"{now.pending} still to do")
    return Panel(table, title="Balance and batches")


def _distance_text(now: CycleDigest, bound_pct: float | None) -> Text:
    above = now.distance_pct is not None and bound_pct is not None and now.distance_pct > bound_pct
    bound = f" of {bound_pct:g} allowed" if bound_pct is not None else ""
    return Text(number(now.distance_pct, " pp") + bound, style="red" if above else "green")


def _predictions(batch: BatchDigest) -> str:
    figures = (("predicted", batch.predicted_s), ("with the plan", batch.planned_s), ("bound", batch.bound_s))
    return " · ".join(f"{name} {seconds:.1f} s" for name, seconds in figures if seconds is not None)


def _singles(singles: SingleBatches) -> tuple[str, str]:
    most = f"nine of ten by {singles.most_pct:.0f} % at most, of {singles.batches} predicted ones"
    return f"± {singles.median_pct:.0f} %", most


def _room(room: Room) -> tuple[str, str]:
    alike = f"{room.alike_ratio:.1f} x today's if all grows alike"
    if room.any_ratio is None:
        return number(room.alike_ratio, " x"), "today's, if all of it grows alike"
    return number(room.any_ratio, " x"), f"whichever mix of the last {room.mixes} batches grows; {alike}"


def _by_rows(lines: Mapping[str, Line]) -> tuple[str, str]:
    """The part of tasks' seconds that rows do not change, of the operator that has most of it."""
    if not lines:
        return DASH, "not to be told from these batches: load counts as going with rows"
    operator, line = max(lines.items(), key=lambda one: one[1].fixed_ratio)
    alike = f", {1000 * line.task_s:.0f} ms in each task" if line.task_s > 0 else ""
    without = f", {odd_batches(line.odd)} left out" if line.odd else ""
    told = f"± {100 * line.error_ratio:.0f} of operator {operator}'s seconds{alike}{without}"
    return number(100 * line.fixed_ratio, " %", 0), told


def _rate(now: CycleDigest, name: Literal["last_batch_s", "input_rps"]) -> float | None:
    return getattr(now.rates, name) if now.rates else None


def _trend(values: Sequence[float], top: float) -> str:
    return sparkline(values[-30:], top)


def decisions_panel(past: Sequence[CycleDigest], most: int) -> Panel:
    """The newest decisions and non-decisions with their reasons; neighbours that say the same are counted."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(style="dim", no_wrap=True, min_width=8)
    table.add_column(no_wrap=True, min_width=24)
    table.add_column(ratio=1, overflow="ellipsis", no_wrap=True)
    for one, times in _grouped(past)[-most:]:
        style = "bold cyan" if one.acted else "dim"
        count = f" x{times}" if times > 1 else ""
        table.add_row(clock_time(one.at_s), Text(one.reason + count, style=style), message(one))
    return Panel(table, title="Decisions, newest last")


def message(one: CycleDigest) -> str:
    """What a cycle says, and what woke it."""
    return f"{one.message} Woken by: {one.woken}" if one.woken else one.message


def _grouped(past: Sequence[CycleDigest]) -> list[tuple[CycleDigest, int]]:
    rows: list[tuple[CycleDigest, int]] = []
    for one in past:
        same = rows and rows[-1][0].reason == one.reason and not one.acted and not rows[-1][0].acted
        if same:
            rows[-1] = (one, rows[-1][1] + 1)
        else:
            rows.append((one, 1))
    return rows


def screen(name: str, past: Sequence[CycleDigest], bound_pct: float | None, moves_done: int) -> RenderableType:
    """The whole view."""
    head = Text.assemble((f" StreamJob · {name} ", "bold"), (f" {clock_time(past[-1].at_s)}", "dim"))
    return Group(
        head,
        executors_panel(past[-1]),
        figures_panel(past, bound_pct, moves_done),
        decisions_panel(past, most=7),
    )


def line(now: CycleDigest, bound_pct: float | None, moves_done: int) -> str:
    """One cycle on one line, for logs."""
    loads = " ".join(f"{one.executor_id}:{one.load_pct:.0f}%{_flag(one)}" for one in now.executors)
    bound = f"/{bound_pct:g}" if bound_pct is not None else ""
    batch = number(_rate(now, "last_batch_s"), "s")
    rate = number(_rate(now, "input_rps"), "/s", 0)
    target = now.target if now.target is not None else DASH
    return (
        f"{clock_time(now.at_s)} {'ACT ' if now.acted else 'hold'} {now.reason:<20} distance {number(now.distance_pct)}"
        f"{bound}pp  collocation {number(now.collocation_pct, '%', 0)}  batch {batch}  input {rate}"
        f"  executors {now.ready}/{target}+{now.marked}  load {loads or DASH}"
        f"  moves {moves_done}+{now.pending}  | {message(now)}"
    )


def _flag(executor: ExecutorDigest) -> str:
    return "" if executor.state == "ready" else "(marked)"
