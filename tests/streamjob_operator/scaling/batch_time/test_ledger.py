"""What changes brought: tried twice without help, undone where it did harm, learned where it worked."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from situations import busy, situation_of
from worlds import job, series_with

from streamjob_operator.scaling.batch_time import ledger
from streamjob_operator.scaling.batch_time.look import MOST_COLD_S, UNKNOWN_COLD_S, cold_s, looked, ready_in_s
from streamjob_operator.scaling.batch_time.state import Action, Asked, Line, State
from streamjob_operator.scaling.rule import Situation, kept, recalled
from streamjob_operator.values import RuleState

ALONE, MORE = Line(fixed_s=1.0, row_s=0.008), Line(fixed_s=1.0, row_s=0.004)


def action(before: int = 2, after: int = 4, *, measured_s: float | None = None, **changes: float) -> Action:
    """At 1000 rows a batch: 9 s without, 5 s promised."""
    without, predicted = (ALONE, MORE) if after > before else (MORE, ALONE)
    made = Action(
        at_s=1000.0, before=before, after=after, rate_rps=100.0, without=without, predicted=predicted, late_ratio=0.0
    )
    done = {} if measured_s is None else {"rows": 1000.0, "measured_s": measured_s, "late_after_ratio": 0.0}
    return dataclasses.replace(made, **(done | changes))  # type: ignore[arg-type]


def after_it(executors: int, batch_s: float, rows: int = 6, **changes: object) -> Situation:
    """Six batches of 1000 rows after the change."""
    snapshot = busy(executors, 50.0, 1100.0)
    groups = len(snapshot.group_ids)
    series = series_with(
        np.ones((rows, groups)), row_s=np.full(rows, 10.0), ended_s=1100.0, input_rps=np.full(rows, 100.0)
    )
    series = dataclasses.replace(series, batch_s=np.full(rows, batch_s))
    return situation_of(dataclasses.replace(snapshot, series=series, **changes), policy=job())  # type: ignore[arg-type]


def settled(ledger_before: tuple[Action, ...] = (action(),)) -> tuple[Action, ...]:
    """With the look at which all were there first, at 1030 s."""
    early = after_it(4, 5.5)
    snapshot = dataclasses.replace(early.snapshot, taken_at_s=1030.0)
    return ledger.with_outcome(ledger_before, dataclasses.replace(early, snapshot=snapshot), 10.0)


def test_an_outcome_is_what_settled_batches_took_beside_what_was_promised() -> None:
    (done,) = ledger.with_outcome(settled(), after_it(4, 5.5), 10.0)
    assert done.measured_s == pytest.approx(5.5)
    assert done.error_ratio == pytest.approx((5.0 - 5.5) / 5.5)
    assert done.helped_ratio == pytest.approx((9.0 - 5.5) / (9.0 - 5.0))


def test_nothing_is_told_before_all_has_settled() -> None:
    for situation in (after_it(3, 5.5), after_it(4, 5.5, rows=2), after_it(4, 5.5, moves_pending=1)):
        (same,) = ledger.with_outcome(settled(), situation, 10.0)
        assert not same.judged


def test_batches_that_ran_while_executors_were_coming_are_no_outcome_of_theirs() -> None:
    """Asked for at 1000 s, there at 1090 s: the batches of the look at 1100 s ran without them."""
    (same,) = ledger.with_outcome((action(),), after_it(4, 9.0), 10.0)
    assert not same.judged
    (same,) = ledger.with_outcome((same,), after_it(4, 9.0), 10.0)
    assert not same.judged


def test_what_did_not_help_twice_is_not_tried_again_until_the_world_changes() -> None:
    useless = State(ledger=(action(2, 4, measured_s=8.9), action(4, 6, measured_s=8.9)))
    assert "2 to 4 and 4 to 6" in (ledger.futile(useless, 105.0, None) or "")
    assert ledger.futile(useless, 130.0, None) is None  # another rate
    assert ledger.futile(useless, 105.0, 1050.0) is None  # key groups share the work otherwise
    once = State(ledger=(action(2, 4, measured_s=5.0), action(4, 6, measured_s=8.9)))
    assert ledger.futile(once, 105.0, None) is None


def test_fewer_executors_that_make_batches_late_are_undone_and_barred() -> None:
    harmed = State(ledger=(action(4, 2, measured_s=12.0, late_after_ratio=0.5),))
    found = ledger.to_undo(harmed, 100.0)
    assert found is not None
    assert found[0] == 4
    assert ledger.to_undo(harmed, 120.0) is None  # more arrives: no doing of the change
    state = ledger.undone(harmed, 2000.0)
    assert ledger.to_undo(state, 100.0) is None
    assert ledger.bar(state, 2100.0, 100.0) == 4
    assert ledger.bar(state, 2100.0, 80.0) == 1
    assert ledger.bar(state, 2000.0 + 3601.0, 100.0) == 1


def test_more_executors_that_make_batches_longer_are_undone() -> None:
    found = ledger.to_undo(State(ledger=(action(2, 4, measured_s=11.0),)), 100.0)
    assert found is not None
    assert found[0] == 2
    assert ledger.to_undo(State(ledger=(action(2, 4, measured_s=9.5),)), 100.0) is None


def test_a_ledger_keeps_the_newest_that_could_be_judged() -> None:
    some: tuple[Action, ...] = ()
    for number in range(30):
        some = ledger.with_action(some, action(number, number + 1, measured_s=1.0))
    assert len(some) == 10
    assert ledger.with_action((action(),), action(4, 5))[0].before == 4  # the first one was overtaken


def test_the_start_up_time_is_learned_from_when_executors_came() -> None:
    state = State(application_id="app-1", asked=Asked(at_s=1010.0, executors=4, rate_rps=100.0))
    situation = after_it(4, 5.0)
    series = situation.snapshot.series
    assert series is not None
    came = dataclasses.replace(series, executors_changed=np.array([0, 0, 1, 0, 0, 0]))
    situation = dataclasses.replace(situation, snapshot=dataclasses.replace(situation.snapshot, series=came))
    found = looked(state, situation)
    assert found.startup_s is not None
    assert found.startup_s.mean == pytest.approx(float(series.ended_at_s[2]) - 1010.0)
    assert ready_in_s(found) == pytest.approx(found.startup_s.mean)
    assert ready_in_s(State()) == 60.0


def test_a_state_survives_its_text() -> None:
    state = State(
        application_id="a", ledger=(action(measured_s=5.0),), asked=Asked(at_s=1.0, executors=2, rate_rps=3.0)
    )
    state = dataclasses.replace(state, past=state.past.with_rate(1000.0, 50.0).with_promise(60.0))
    assert recalled(State, kept(state)) == state


def test_the_newest_error_is_told_of_this_rule_alone() -> None:
    state = kept(State(ledger=(action(measured_s=4.0), action(4, 5))))
    assert ledger.newest_error_pct(RuleState(rule="batch-time", state=state)) == pytest.approx(25.0)
    assert ledger.newest_error_pct(RuleState(rule="utilization", state=state)) is None
    assert ledger.newest_error_pct(RuleState(rule="batch-time", state=kept(State()))) is None
    assert ledger.newest_error_pct(None) is None


@pytest.mark.parametrize(("batch_s", "longer_s"), [(9.5, 4.5), (4.0, 0.0), (900.0, MOST_COLD_S)])
def test_how_cold_executors_are_is_learned_in_seconds(batch_s: float, longer_s: float) -> None:
    """A batch that began with all of them, for which 5 s were promised: it loads classes besides."""
    situation = after_it(4, batch_s)
    came = Asked(at_s=1000.0, executors=4, rate_rps=100.0, came_at_s=1099.0 - batch_s / 2.0)
    waiting = State(application_id=situation.snapshot.application_id, asked=came, ledger=(action(),))
    assert cold_s(waiting) == UNKNOWN_COLD_S
    assert cold_s(looked(waiting, situation)) == pytest.approx(longer_s)
