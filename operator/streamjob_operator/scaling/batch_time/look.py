"""What a look at the job adds to what is known: rates, lags, noise, start-up times, what actions have brought."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.scaling.batch_time import ledger, patience
from streamjob_operator.scaling.batch_time.arriving import with_lag
from streamjob_operator.scaling.batch_time.measured import with_noise
from streamjob_operator.scaling.batch_time.state import Asked, State
from streamjob_operator.scaling.rule import Situation
from streamjob_planners.batch.learned import learned

UNKNOWN_STARTUP_S = 60.0
"""Seconds from asking for an executor to its being there while none has come yet."""


def looked(state: State, situation: Situation) -> State:
    """The state after one more look, before anything is decided."""
    state = _of_this_driver(state, situation)
    state = _with_proposed(state, situation)
    state = _with_first_batch(_with_arrival(state, situation), situation)
    return dataclasses.replace(
        state, lags=with_lag(state.lags, situation.snapshot), noise=with_noise(state.noise, situation)
    )


def ready_in_s(state: State) -> float:
    """Seconds until executors that are asked for now are there: the mean of those that came, and what it may be off
    by."""
    startup = state.startup_s
    return UNKNOWN_STARTUP_S if startup is None else startup.mean + (startup.error or 0.0)


def cold_s(state: State) -> float:
    """Seconds that the first batch on executors that come takes longer than later ones."""
    return UNKNOWN_COLD_S if state.cold_s is None else state.cold_s.mean


def under_way(state: State, situation: Situation) -> bool:
    """Whether executors that were asked for are not there, or no measured batch has run on them, or they have not had
    time to take their share."""
    fleet, asked, rates = situation.fleet, state.asked, situation.snapshot.rates
    if fleet.ready < fleet.wanted:
        return True
    if asked is None or asked.came_at_s is None:
        return False
    if rates.last_batch_at_s - rates.last_batch_s < asked.came_at_s:
        return True
    if not situation.snapshot.moves_pending:
        return False
    share_s = SHARE_BATCHES * max(rates.mean_batch_s, rates.trigger_interval_s or 0.0)
    return situation.now_s - asked.came_at_s < min(share_s, situation.job.spec.balancing.statistics_period_s)


UNKNOWN_COLD_S = 4.0
"""Seconds that the first batch on executors that come takes longer while none has come yet: a JVM loads its classes,
however few rows there are, and on real Spark that took so long (`docs/rules-on-spark.md`)."""
MOST_COLD_S = 30.0
"""Seconds that are believed of one first batch: a batch of a backlog may be foretold far too short."""
SHARE_BATCHES = 3.0
"""Batches in which executors that came take their share."""


def _of_this_driver(state: State, situation: Situation) -> State:
    """Another driver may run other code: rates and start-up times stay, all else is learned anew."""
    application_id = situation.snapshot.application_id
    if state.application_id == application_id:
        return state
    return State(application_id=application_id, past=state.past, startup_s=state.startup_s)


def _with_proposed(state: State, situation: Situation) -> State:
    """The change that was wished for is an action once the executors wanted are those of it."""
    action = state.proposed
    if action is None:
        return state
    state = dataclasses.replace(state, proposed=None)
    if situation.fleet.wanted != action.after:
        return state
    asked = state.asked
    if action.after > action.before:
        asked = Asked(at_s=action.at_s, executors=action.after, rate_rps=action.rate_rps)
    leaving = patience.with_action(state.leaving, action)
    return dataclasses.replace(state, asked=asked, leaving=leaving, ledger=ledger.with_action(state.ledger, action))


def _with_arrival(state: State, situation: Situation) -> State:
    """The start-up time, once all that were asked for are there."""
    asked, fleet = state.asked, situation.fleet
    if asked is None or asked.came_at_s is not None or fleet.ready < asked.executors:
        return state
    came_s = _came_at_s(situation, asked.at_s)
    startup = learned(state.startup_s, max(0.0, came_s - asked.at_s))
    return dataclasses.replace(state, asked=dataclasses.replace(asked, came_at_s=came_s), startup_s=startup)


def _with_first_batch(state: State, situation: Situation) -> State:
    """What the first batch took that began with all that were asked for, against what was predicted of it."""
    asked, series = state.asked, situation.snapshot.series
    if asked is None or asked.came_at_s is None or asked.warm or series is None or not state.ledger:
        return state
    seconds = series.batch_s / series.batches
    begun = np.flatnonzero((series.ended_at_s - seconds / 2.0 >= asked.came_at_s) & (series.batches == 1))
    if not begun.size:
        return state
    action, first = state.ledger[-1], int(begun[0])
    state = dataclasses.replace(state, asked=dataclasses.replace(asked, warm=True))
    predicted_s = action.predicted.at(float(series.input_rows[first]))
    if action.after != asked.executors or predicted_s <= 0.0:
        return state
    longer_s = float(np.clip(seconds[first] - predicted_s, 0.0, MOST_COLD_S))
    return dataclasses.replace(state, cold_s=learned(state.cold_s, longer_s))


def _came_at_s(situation: Situation, since_s: float) -> float:
    """When executors came last, as the batches tell; now, where they do not."""
    series = situation.snapshot.series
    if series is None:
        return situation.now_s
    ends_s = series.ended_at_s[(series.executors_changed > 0) & (series.ended_at_s > since_s)]
    return float(np.max(ends_s)) if ends_s.size else situation.now_s
