"""The rule: the fewest executors that will be enough, held steady, and learning from what its changes brought."""

from __future__ import annotations

import dataclasses

from streamjob_operator.scaling.batch_time import ledger, words
from streamjob_operator.scaling.batch_time.aims import aim_of
from streamjob_operator.scaling.batch_time.arriving import Arriving, arriving
from streamjob_operator.scaling.batch_time.fallback import without_batches
from streamjob_operator.scaling.batch_time.hints import hinted
from streamjob_operator.scaling.batch_time.look import cold_s, looked, ready_in_s
from streamjob_operator.scaling.batch_time.measured import Measured, late_ratio, measured
from streamjob_operator.scaling.batch_time.needs import View, line_of, needs
from streamjob_operator.scaling.batch_time.state import Action, State
from streamjob_operator.scaling.batch_time.steady import Call, settle
from streamjob_operator.scaling.objective import batch_objective_s
from streamjob_operator.scaling.rule import Situation, Wish, clamp, kept, recalled
from streamjob_operator.scaling.rule import State as Kept
from streamjob_operator.scaling.utilization.needs import by_memory
from streamjob_planners.forecast.past import Forecast, Method
from streamjob_planners.forecast.rise import expected


class BatchTimeRule:
    """Batches seldom late at the rate expected, the backlog gone in time, by as few executors as that takes."""

    name = ledger.NAME

    def decide(self, situation: Situation, state: Kept | None) -> tuple[Wish, Kept]:
        """The wish and what is remembered."""
        known = looked(recalled(State, state), situation)
        work = None if situation.snapshot.rates.idle_since_s is not None else measured(situation, known.noise)
        wish, after = _unknown(situation, known) if work is None else _known(situation, known, work)
        return wish, kept(after)


def _unknown(situation: Situation, state: State) -> tuple[Wish, State]:
    need = without_batches(situation)
    found, calm = _arriving(situation, state), max(need.executors, need.calm)
    call = Call(out=need.executors, rate_rps=found.rate_rps, calm=calm, why=need.why, calm_why=need.why)
    return settle(call, situation, state, found)


def _arriving(situation: Situation, state: State) -> Arriving:
    snapshot = situation.snapshot
    objective_s = batch_objective_s(situation.job.spec.scaling, snapshot.rates.trigger_interval_s or 0.0)
    return arriving(snapshot, state.lags, objective_s)


def _known(situation: Situation, state: State, work: Measured) -> tuple[Wish, State]:
    found, ready_s = _arriving(situation, state), ready_in_s(state)
    past = state.past.with_rate(situation.snapshot.taken_at_s, found.rate_rps).with_promise(ready_s)
    state = dataclasses.replace(state, past=past)
    hint_rps, hint_executors = hinted(situation.job, situation.now_s, ready_s)
    view = View(
        job=situation.job,
        fleet=situation.fleet,
        measured=work,
        arriving=found,
        ahead=_ahead(situation, state, found, hint_rps, ready_s),
        highest=_highest(situation, state, max(found.rate_rps, hint_rps), ready_s),
        ready_s=ready_s,
        trigger_s=situation.snapshot.rates.trigger_interval_s or 0.0,
        read_ago_s=max(0.0, situation.now_s - situation.snapshot.rates.last_batch_at_s),
        cold_s=cold_s(state),
    )
    objective_s = batch_objective_s(situation.job.spec.scaling, view.trigger_s)
    state = dataclasses.replace(state, ledger=ledger.with_outcome(state.ledger, situation, objective_s))
    call = _call(situation, view, hint_executors)
    wish, state = settle(call, situation, state, found)
    wish = dataclasses.replace(wish, enough=call.enough, more_groups=call.more_groups)
    return wish, dataclasses.replace(state, proposed=_proposed(situation, view, wish, objective_s))


def _call(situation: Situation, view: View, hint_executors: int) -> Call:
    """What this moment asks for, before anything holds it back."""
    found, model = needs(view), situation.estimate.model
    aim = aim_of(view.job.spec.scaling, view.trigger_s, view.ready_s)
    memory = by_memory(situation)
    least, least_why = max((memory.executors, memory.why), (hint_executors, "a hint of the policy asks for it"))
    out = view.fleet.wanted if found.today_enough else found.out.executors
    fits = found.today_enough
    why = words.fits(view, found.today, aim) if fits else words.enough(view, found.out, aim, model)
    if least > out:
        out, why = least, least_why
    by_time = found.calm.executors  # who works a backlog off leaves with it, whatever the window saw then
    kept, kept_why = max((memory.calm, memory.why), (hint_executors, "a hint of the policy asks for it"))
    keeps = kept_why if kept > by_time else ""
    calm_why = keeps or words.enough(view, found.calm, aim, model)
    return Call(
        out=out,
        rate_rps=view.ahead.rate_rps,
        calm=max(kept, by_time),
        why=why,
        calm_why=calm_why,
        keeps=keeps,
        rises=view.ahead.method is Method.RISE,
        behind=found.today.batch is None,
        enough=fits or out > view.fleet.wanted,
        more_groups=None if fits else words.more(view, found.out, aim, model),
    )


def _ahead(situation: Situation, state: State, found: Arriving, hint_rps: float, ready_s: float) -> Forecast:
    """The rate when executors that are asked for now are there, at least today's: these are worked off now."""
    believed = situation.job.spec.scaling.forecast
    ahead, known = state.past.forecast(ready_s, believed), found.came
    ahead = dataclasses.replace(ahead, rate_rps=max(ahead.rate_rps, found.rate_rps, hint_rps))
    risen_rps = None if known is None or not believed else expected(known.at_s, known.rps, situation.now_s + ready_s)
    if risen_rps is None or risen_rps <= ahead.rate_rps:
        return ahead
    return Forecast(rate_rps=risen_rps, spread=ahead.spread, method=Method.RISE)


def _highest(situation: Situation, state: State, least_rps: float, ready_s: float) -> Forecast:
    """The highest rate expected until executors that leave now could be asked for again and be there."""
    scaling = situation.job.spec.scaling
    until_s = scaling.stabilization.quiet_s + ready_s
    every = (state.past.forecast(part * until_s, scaling.forecast) for part in (0.25, 0.5, 1.0))
    highest = max(every, key=lambda one: one.rate_rps)
    return dataclasses.replace(highest, rate_rps=max(highest.rate_rps, least_rps))


def _proposed(situation: Situation, view: View, wish: Wish, objective_s: float | None) -> Action | None:
    before, after = situation.fleet.wanted, clamp(wish.executors, situation.job)
    if after == before:
        return None
    return Action(
        at_s=situation.now_s,
        before=before,
        after=after,
        rate_rps=view.ahead.rate_rps,
        without=line_of(view, before),
        predicted=line_of(view, after),
        late_ratio=late_ratio(situation, objective_s),
    )
