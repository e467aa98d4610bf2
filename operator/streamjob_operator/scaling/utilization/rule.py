"""The rule: the largest of the needs, raised where scaling in is not calm, held until it has lasted."""

from __future__ import annotations

import dataclasses

from streamjob_operator.scaling.rule import Fleet, Situation, State, Wish, clamp, kept, recalled
from streamjob_operator.scaling.utilization.needs import Need, by_load, by_memory, by_time, model_of
from streamjob_operator.scaling.utilization.stabilisation import History, recommend, stabilised, waiting
from streamjob_operator.steps.idle import waits


class UtilizationRule:
    """Enough executors that slots are busy to the target, a batch fits into its trigger interval, and state fits."""

    name = "utilization"

    def decide(self, situation: Situation, state: State | None) -> tuple[Wish, State]:
        """The smallest need of the window upwards, else the largest of the window downwards."""
        job, fleet, at_s = situation.job, situation.fleet, measured_at_s(situation)
        need = within_tolerance(need_of(situation), fleet)
        history = recommend(recalled(History, state), need.executors, job, at_s, need.since_s)
        up, down = stabilised(history, fleet.wanted, job, at_s)
        executors = up if up > fleet.wanted else min(down, fleet.wanted)
        held = waiting(clamp(need.executors, job) > fleet.wanted, job)
        wish = Wish(executors=executors, needed=need.executors, why=need.why, held=held, more_groups=need.more_groups)
        return wish, kept(history)


def measured_at_s(situation: Situation) -> float:
    """The moment that a need speaks of, seconds since the epoch: looking again at what was measured then is no news.

    Of a query that waits for data it is now: nothing new is what it says.
    """
    return situation.now_s if waits(situation.snapshot) is not None else situation.snapshot.taken_at_s


def need_of(situation: Situation) -> Need:
    """The largest of the needs; of a query that waits for data, what its state needs."""
    idle = waits(situation.snapshot)
    if idle is not None:
        by_state = by_memory(situation)
        return dataclasses.replace(by_state, calm=by_state.executors, why=f"{idle}; {by_state.why}")
    needs = (by_load(situation), by_time(situation), by_memory(situation))
    largest = max(needs, key=lambda need: need.executors)
    seen = situation.estimate
    since_s = max((at_s for at_s in (seen.changed_at_s, seen.level_changed_at_s) if at_s is not None), default=None)
    calm = max(need.calm for need in needs)
    more = next((need.more_groups for need in needs if need.more_groups is not None), None)
    if situation.snapshot.unmeasured:  # what runs beside has its needs, too
        calm = max(calm, int((~model_of(situation).marked).sum()))
    return dataclasses.replace(largest, calm=calm, since_s=since_s, more_groups=more)


def within_tolerance(need: Need, fleet: Fleet) -> Need:
    """A need below what is wanted now is raised to one that is calm, at most to what is wanted."""
    return dataclasses.replace(need, executors=max(need.executors, min(need.calm, fleet.wanted)))
