"""What each change of the number of executors was to bring, what it has brought, and what follows from that."""

from __future__ import annotations

import dataclasses

from streamjob_operator.scaling.batch_time.measured import LEAST_ROWS, batches_of, steady
from streamjob_operator.scaling.batch_time.state import Action, Barred, State
from streamjob_operator.scaling.rule import Situation, recalled
from streamjob_operator.values import RuleState

NAME = "batch-time"
"""The rule whose state holds a ledger."""
MOST_ACTIONS = 10
"""Actions that are kept."""
HELPED = 0.25
"""Part of what was promised that a change must have brought to have helped."""
TWICE = 2
"""Changes without help after which no third one is made."""
SAME_WORLD = 0.25
"""Part by which the rate must differ for the world to count as another one."""
UNHEALTHY = 0.3
"""Part of late batches after a change that makes it one to undo, where few were before it."""
HEALTHY = 0.1
"""The same before it."""
SAME_RATE = 1.1
"""Times the rate of the change up to which late batches are its doing."""
BARRED_S = 3600.0
"""Time in which fewer executors are not tried again after they were not enough, at the same rate."""
WORSE = 1.2
"""Times what batches took without new executors from which these are taken back."""


def with_outcome(ledger: tuple[Action, ...], situation: Situation, objective_s: float | None) -> tuple[Action, ...]:
    """The ledger with what came of the newest action, once enough batches have shown it.

    Only batches that began after a look found the executors to be those of the action: they take a minute to come, and
    the batches of that minute tell what batches took without them.
    """
    if not ledger or ledger[-1].judged or not _settled(ledger[-1], situation):
        return ledger
    action, series = ledger[-1], situation.snapshot.series
    if action.settled_at_s is None:
        return (*ledger[:-1], dataclasses.replace(action, settled_at_s=situation.snapshot.taken_at_s))
    if series is None:
        return ledger
    batch_s, rows = batches_of(series, steady(series, action.settled_at_s))
    if batch_s.size < LEAST_ROWS:
        return ledger
    late = 0.0 if objective_s is None else float((batch_s > objective_s).mean())
    done = dataclasses.replace(action, rows=float(rows.mean()), measured_s=float(batch_s.mean()), late_after_ratio=late)
    return (*ledger[:-1], done)


def _settled(action: Action, situation: Situation) -> bool:
    """Whether the executors are those of the action, and nothing is on its way any more."""
    fleet = situation.fleet
    return fleet.ready == fleet.wanted == action.after and not fleet.marked and not situation.snapshot.moves_pending


def with_action(ledger: tuple[Action, ...], action: Action) -> tuple[Action, ...]:
    """The ledger with one more; of one that was overtaken before it could be judged nothing is learned."""
    kept = tuple(one for one in ledger if one.judged)
    return (*kept, action)[-MOST_ACTIONS:]


def futile(state: State, rate_rps: float, changed_at_s: float | None) -> str | None:
    """Why more executors are not asked for again: the last two times hardly helped, and the world is as it was."""
    outs = [one for one in state.ledger if one.judged and one.after > one.before][-TWICE:]
    if len(outs) < TWICE or state.ledger[-1] is not outs[-1]:
        return None
    for one in outs:
        helped = one.helped_ratio
        if helped is None or helped >= HELPED or not _same_world(one, rate_rps, changed_at_s):
            return None
    tried = " and ".join(f"{one.before} to {one.after}" for one in outs)
    return f"from {tried} executors batches got hardly any shorter, so no more are asked for until the load changes"


def _same_world(action: Action, rate_rps: float, changed_at_s: float | None) -> bool:
    near = abs(rate_rps - action.rate_rps) <= SAME_WORLD * action.rate_rps
    return near and (changed_at_s is None or changed_at_s < action.at_s)


def to_undo(state: State, rate_rps: float) -> tuple[int, str] | None:
    """The executors to go back to, and why; None where the newest action did no harm."""
    if not state.ledger or not state.ledger[-1].judged or state.ledger[-1].undone:
        return None
    action = state.ledger[-1]
    late, rows, measured_s = action.late_after_ratio or 0.0, action.rows or 0.0, action.measured_s or 0.0
    if rate_rps > SAME_RATE * action.rate_rps:
        return None
    if action.after < action.before and late >= UNHEALTHY and action.late_ratio <= HEALTHY:
        why = f"with {action.after} in place of {action.before} executors {100 * late:.0f} percent of batches are late"
        return action.before, f"{why}, so that is undone"
    if action.after > action.before and measured_s > WORSE * action.without.at(rows):
        why = (
            f"batches take {measured_s:.1f} s since there are {action.after} executors, {action.without.at(rows):.1f} s"
        )
        return action.before, f"{why} were to be expected with {action.before}, so that is undone"
    return None


def undone(state: State, now_s: float) -> State:
    """The state once the newest action was taken back; fewer executors are barred for a while."""
    action = dataclasses.replace(state.ledger[-1], undone=True)
    barred = state.barred
    if action.after < action.before:
        barred = Barred(executors=action.before, until_s=now_s + BARRED_S, below_rps=action.rate_rps / SAME_RATE)
    return dataclasses.replace(state, ledger=(*state.ledger[:-1], action), barred=barred)


def bar(state: State, now_s: float, rate_rps: float) -> int:
    """Executors that must stay because fewer were not enough; 1 where nothing is barred."""
    barred = state.barred
    if barred is None or now_s >= barred.until_s or rate_rps < barred.below_rps:
        return 1
    return barred.executors


def newest_error_pct(kept: RuleState | None) -> float | None:
    """Predicted less measured batch after the newest change that was judged, percent of the measured one; None without
    one, and of another rule."""
    if kept is None or kept.rule != NAME:
        return None
    errors = [one.error_ratio for one in recalled(State, kept.state).ledger]
    known = [error for error in errors if error is not None]
    return 100.0 * known[-1] if known else None
