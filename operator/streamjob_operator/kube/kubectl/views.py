"""What `kubectl streamjob` shows. Pure: a StreamJob's status in, something for the terminal out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from streamjob_operator.counting import executors, moves_told
from streamjob_operator.kube.api.times import seconds
from streamjob_operator.kube.kubectl.meanings import meaning_of
from streamjob_operator.kube.models.status import ApprovablePlan, Condition, Decision, Figures, PlanStatus, Status
from streamjob_operator.kube.names import Condition as Kind
from streamjob_operator.singles import SingleBatches
from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.values import PendingPlan

MOST_MOVES = 20
BAD_WHEN_TRUE = (Kind.STALLED, Kind.AWAITING_APPROVAL, Kind.RECONCILING, Kind.FAIL_SAFE)
STYLES = {"Acted": "green", "Refused": "red", "Held": "dim"}
NOTHING = "-"


def plan_view(name: str, status: Status, pending: PendingPlan | None) -> RenderableType:
    """The newest plan: what it promises, what came of it, and how it is approved."""
    plan = status.last_plan
    if plan is None:
        return Text(f"{name} has no plan yet.")
    parts: list[RenderableType] = [_plan_table(plan)]
    if pending is not None:
        parts.append(_moves_table(pending))
        parts.append(Text(f"kubectl streamjob approve {name} {pending.plan_hash}", style="bold"))
    parts.extend(Text(_earlier(name, one)) for one in status.approvable if one.until is not None)
    return Group(*parts)


def _plan_table(plan: PlanStatus) -> Table:
    table = Table(
        "",
        "predicted",
        "observed",
        title=f"Plan {_known(plan.hash)}: {_known(plan.decision)}, {_known(plan.reason)}",
        title_justify="left",
    )
    for label, name in (
        ("batch, s", "batch_seconds"),
        ("load distance", "distance"),
        ("mean utilisation", "mean"),
        ("collocation", "collocation"),
        ("executors", "executors"),
    ):
        table.add_row(label, _figure(plan.predicted, name), _figure(plan.observed, name))
    made = f"{_known(plan.moves)} moves, by {_known(plan.planner)}, {_known(plan.computed_at)}."
    table.caption = f"{plan.message} {made}" if plan.message else made
    table.caption_justify = "left"
    return table


def _known(value: object) -> str:
    """A status of another version may lack it."""
    return NOTHING if value is None else str(value)


def _earlier(name: str, plan: ApprovablePlan) -> str:
    """A plan that was shown before the newest one, and how long it may still be approved."""
    what = f"Of {plan.computed_at}, until {plan.until}: {executors(plan.executors)}, {moves_told(plan.moves)}."
    return f"{what} kubectl streamjob approve {name} {plan.hash}"


def _figure(figures: Figures | None, name: str) -> str:
    value = None if figures is None else getattr(figures, name)
    return NOTHING if value is None else f"{value:g}"


def _moves_table(pending: PendingPlan) -> Table:
    table = Table("key group", "from", "to", title="Moves", title_justify="left")
    for name, (source, target) in list(pending.moves.items())[:MOST_MOVES]:
        table.add_row(name, source, target)
    left = len(pending.moves) - MOST_MOVES
    if left > 0:
        table.caption = f"and {left} more"
    if pending.marked:
        table.caption = f"{table.caption or ''} Marked for removal: {', '.join(pending.marked)}.".strip()
    return table


def explain_view(name: str, status: Status) -> RenderableType:
    """Why it does what it does, and what a person can do about it."""
    parts: list[RenderableType] = [_why(name, status)]
    table = Table("condition", "", "reason", "message", title="Conditions", title_justify="left")
    for one in status.conditions:
        table.add_row(one.type, Text(one.status, style=_style(one)), one.reason, one.message)
    told = () if status.load is None else (status.load.survived, status.load.memory, *status.load.speeds)
    return Group(*parts, *(Text(one) for one in (_singles(status), *told) if one), table)


def _singles(status: Status) -> str | None:
    """How far single batches were from what was predicted of them."""
    told = None if status.batch is None else status.batch.singles
    if told is None:
        return None
    return SingleBatches(batches=told.batches, median_pct=told.median_percent, most_pct=told.most_percent).sentence


def _why(name: str, status: Status) -> Panel:
    cycle = status.last_cycle
    if cycle is None or cycle.reason is None:
        why = "the conditions say why." if status.conditions else "is there an operator that looks after its namespace?"
        return Panel(f"{name}: {status.phase or 'Pending'}. No cycle has been run yet; {why}")
    text = Text.assemble((f"{cycle.reason}: ", "bold"), cycle.message or "")
    meaning = meaning_of(cycle.reason)
    if meaning is not None:
        text.append(f"\n{meaning.meaning}")
        text.append(f"\nTo do: {meaning.to_do}" if meaning.to_do else "", style="yellow")
    return Panel(text, title=f"{name}: {status.phase}, newest cycle {cycle.at}", title_align="left")


def _style(one: Condition) -> str:
    if one.status == "Unknown":
        return "yellow"
    bad_when = "True" if one.type in BAD_WHEN_TRUE else "False"
    return "yellow" if one.status == bad_when else "green"


def history_view(name: str, history: Sequence[Decision]) -> RenderableType:
    """The newest decisions, oldest first."""
    if not history:
        return Text(f"{name} has no history yet.")
    table = Table("since", "decision", "reason", "moves", "times", "message", title=name, title_justify="left")
    for one in history:
        decision = Text(one.decision, style=STYLES.get(one.decision, ""))
        moves = NOTHING if one.moves is None else str(one.moves)
        table.add_row(one.at, decision, one.reason, moves, str(one.count or 1), one.message)
    return table


def top_view(jobs: Iterable[tuple[str, str, Status]]) -> Table:
    """One line per StreamJob: (namespace, name, status)."""
    columns = ("namespace", "name", "phase", "exec", "load", "dist", "colloc", "moves", "reason", "for")
    table = Table(*columns, box=None, pad_edge=False)
    for namespace, name, status in jobs:
        load, moves, cycle = status.load, status.migrations, status.last_cycle
        table.add_row(
            namespace,
            name,
            status.phase or NOTHING,
            NOTHING if status.executors is None else status.executors.summary or NOTHING,
            _number(None if load is None else load.mean),
            _number(None if load is None else load.distance),
            _number(None if status.collocation is None else status.collocation.factor),
            NOTHING if moves is None else moves.summary or NOTHING,
            NOTHING if cycle is None else cycle.reason or NOTHING,
            _since(status.history),
        )
    return table


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.1f}"


def _since(history: Sequence[Decision]) -> str:
    """How long the newest reason has held."""
    return NOTHING if not history else format_duration(max(0, round(time.time() - seconds(history[-1].at))))
