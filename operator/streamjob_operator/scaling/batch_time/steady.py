"""From what a moment asks for to a wish: windows, vetoes, what did not help, what has to be undone."""

from __future__ import annotations

import dataclasses
import math

from streamjob_operator.scaling.batch_time import calm, ledger, patience
from streamjob_operator.scaling.batch_time.arriving import Arriving
from streamjob_operator.scaling.batch_time.look import ready_in_s, under_way
from streamjob_operator.scaling.batch_time.state import State
from streamjob_operator.scaling.rule import Situation, Wish, clamp
from streamjob_operator.series import BatchSeries
from streamjob_operator.spec.quantities import format_duration
from streamjob_planners.advice.more_groups import MoreGroups

RISEN = 1.15
"""Times the rate that executors were asked for from which more are asked for before those have come."""
HALF = 0.5
"""Part of the executors that stay at least when some are let go: load that was there may come back."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Executors that this moment asks for: `out` to grow to at `rate_rps`, `calm` to shrink to at most, and why.

    `keeps`: what besides batches needs those of `calm`, as the end of a sentence; empty where nothing does. `rises`:
    whether the rate rises steeply. `behind`: whether batches would grow without end on the executors that are wanted.
    `enough`: False where those are not, and no number that may be asked for is either. `more_groups`: what might do
    where no number of executors does.
    """

    out: int
    rate_rps: float
    calm: int
    why: str
    calm_why: str
    keeps: str = ""
    rises: bool = False
    behind: bool = False
    enough: bool = True
    more_groups: MoreGroups | None = None


def settle(call: Call, situation: Situation, state: State, found: Arriving) -> tuple[Wish, State]:
    """The wish, and the state with what was wished for."""
    job, now_s = situation.job, situation.now_s
    undo = ledger.to_undo(state, found.rate_rps)
    if undo is not None:
        executors, why = undo
        return Wish(executors=executors, needed=executors, why=why), ledger.undone(state, now_s)
    stabilization, wanted = job.spec.scaling.stabilization, situation.fleet.wanted
    out, held = _out(call, situation, state, found)
    high = calm.with_need(state.high, out, wanted, now_s)
    least, doubt = _fewest(call, situation, state, found.rate_rps), _doubt(situation)
    counted = least if doubt is None else wanted
    down_s = patience.window_s(job.spec.scaling, state.leaving, ready_in_s(state), now_s)
    longest_s = stabilization.quiet_s  # a window is no longer, and one may follow a shorter one
    seen = calm.with_wish(state.calm, counted, situation.snapshot.taken_at_s, _usual_s(situation), longest_s)
    veto = _veto(call, situation, state, found) or doubt
    shrunk = least if veto is None else wanted
    state = dataclasses.replace(state, high=high, calm=seen)
    up = calm.upwards(high, out, wanted, now_s, stabilization.up_s)
    if up > wanted or out > wanted:
        waits = f"waiting until that has held {format_duration(stabilization.up_s)}"
        return Wish(executors=up, needed=out, why=call.why, held=waits), state
    if held is not None:
        return Wish(executors=wanted, needed=clamp(call.out, job), why=call.why, held=held), state
    down = calm.downwards(seen, wanted, down_s)
    if shrunk >= wanted:
        kept = veto or (call.keeps if call.calm >= wanted else "")
        return Wish(executors=wanted, needed=wanted, why="; ".join(filter(None, (call.why, kept)))), state
    window = format_duration(down_s)
    why = call.calm_why if down in (wanted, shrunk) else f"{call.calm_why}; within {window} it was {down}"
    return Wish(executors=down, needed=shrunk, why=why, held=f"waiting until that has held {window}"), state


def _out(call: Call, situation: Situation, state: State, found: Arriving) -> tuple[int, str | None]:
    """Executors to grow to, and why it is not as many as asked for, None where it is."""
    wanted, asked = situation.fleet.wanted, state.asked
    if call.out <= wanted:
        return wanted, None
    if under_way(state, situation) and asked is not None and call.rate_rps <= RISEN * asked.rate_rps:
        return wanted, "those that were asked for have not all taken their share yet"
    held = ledger.futile(state, found.rate_rps, situation.estimate.changed_at_s)
    return (call.out, None) if held is None else (wanted, held)


def _fewest(call: Call, situation: Situation, state: State, rate_rps: float) -> int:
    """Executors to shrink to, were nothing against it."""
    wanted, job = situation.fleet.wanted, situation.job
    barred = ledger.bar(state, situation.now_s, rate_rps)
    return clamp(max(call.calm, min(barred, wanted), math.ceil(HALF * wanted)), job)


def _usual_s(situation: Situation) -> float:
    """Seconds between two measurements where nothing is missing: data may come so seldom that no batch ran between."""
    rates, period_s = situation.snapshot.rates, situation.job.spec.balancing.statistics_period_s
    return max(period_s, rates.mean_batch_s, rates.trigger_interval_s or 0.0, _between_s(situation.snapshot.series))


def _between_s(series: BatchSeries | None) -> float:
    """Seconds from the last batch but one to the last one, as both were told; 0 where several were told at once."""
    if series is None or series.batches.size == 0 or series.batches[-1] > 1:
        return 0.0
    return float(series.row_s[-1])


def _veto(call: Call, situation: Situation, state: State, found: Arriving) -> str | None:
    """Why no executor may leave now, though fewer would do for the rate: who works a backlog off leaves once it is
    gone, and need not wait for the window again."""
    if under_way(state, situation):
        return "none may leave before those that came have taken their share"
    if found.grows:
        return "none may leave while the source's lag grows"
    if found.backlog_rows > 0:
        return "none may leave while there is a backlog"
    if call.rises:
        return "none may leave while the rate rises steeply"
    if call.behind:
        return "none may leave while rows come faster than they are taken"
    return None


def _doubt(situation: Situation) -> str | None:
    """Why what was measured does not count for scaling in."""
    if situation.snapshot.unmeasured:
        return "none may leave while queries beside are not measured"
    lost_s, down_s = situation.memory.lost_at_s, situation.job.spec.scaling.stabilization.quiet_s
    if lost_s is not None and situation.now_s - lost_s < down_s:
        return f"none may leave within {format_duration(down_s)} of a loss of executors"
    return None
