"""A search that found nothing worth having answers until it would be asked something else."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from small_models import timed
from worlds import even, job, warm

from streamjob_operator import cycle
from streamjob_operator.memory import from_json, to_json
from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.at_rest import plan_at_rest, searched
from streamjob_operator.steps.searched import MOST_CELLS, MOST_MOVES, MOST_TIMES
from streamjob_operator.steps.solve import Solver, plan_params
from streamjob_operator.steps.worth import worth
from streamjob_operator.values import Memory, Reason, Searched
from streamjob_planners import plans
from streamjob_planners.model import LoadModel, Plan
from streamjob_planners.search import SearchPlanner

OF: StreamJob = job(("planner: greedy", "planner: search"), ("maxMigrations: 4", "maxMigrations: 40"))
SECONDS = (1.0, 1.0, 1.0, 1.1)


def costly(seconds: tuple[float, ...] = SECONDS, move_s: float = 100.0, **batch: object) -> LoadModel:
    """Four key groups on two executors; a move costs more than it can gain."""
    made = timed(list(seconds), [0, 0, 1, 1], **batch)  # type: ignore[arg-type]
    return dataclasses.replace(made, migration_cost_s=np.full(4, move_s))


def plan_of(model: LoadModel, *moves: tuple[int, int]) -> Plan:
    node_of = np.array(model.node_of)
    for group, node in moves:
        node_of[group] = node
    return plans.make_plan(model, node_of, planner="search", elapsed_s=0.1)


def kept(model: LoadModel, plan: Plan | None = None, of: StreamJob = OF) -> Searched:
    found = searched(model, of, plan_params(of), plan or plan_of(model))
    assert found is not None
    return found


def answer(model: LoadModel, known: Searched | None, of: StreamJob = OF) -> Plan | None:
    return plan_at_rest(model, of, plan_params(of), known)[0]


def test_what_a_search_did_not_find_is_not_looked_for_again() -> None:
    model = costly()
    assert answer(model, None) is None
    found = SearchPlanner().solve(model, plan_params(OF), np.random.default_rng(1), lambda: 0.0)
    again = answer(model, kept(model, found))
    assert again is not None
    assert np.array_equal(again.node_of, found.node_of)
    assert (again.before, again.after, again.batch_bound_s) == (found.before, found.after, found.batch_bound_s)


def exchanged(model: LoadModel) -> Searched:
    return kept(model, plan_of(model, (0, 1), (2, 0)))


def test_moves_that_gain_too_little_are_judged_by_todays_figures() -> None:
    today = costly((1.0, 1.0, 1.005, 1.1), move_s=0.0)
    again = answer(today, exchanged(costly(move_s=0.0)))
    assert again is not None
    assert {(move.group, move.target) for move in again.moves} == {(0, 1), (2, 0)}
    assert again.before == plan_of(today).before
    judged = worth(today, again, OF.spec.balancing)
    assert (judged.act, judged.reason) == (False, Reason.GAIN_TOO_SMALL)
    assert "2 moves would gain" in judged.message


def test_moves_that_today_would_make_a_batch_longer_are_looked_for_anew() -> None:
    assert answer(costly((1.005, 1.0, 1.0, 1.1), move_s=0.0), exchanged(costly(move_s=0.0))) is None


@pytest.mark.parametrize(
    ("seconds", "rests"),
    [
        ((1.0, 1.0, 1.0, 1.11), True),
        ((1.0, 1.0, 1.0, 1.13), False),
        ((1.0, 0.99, 1.0, 1.1), True),
        ((1.0, 0.97, 1.0, 1.1), False),
    ],
)
def test_an_executor_that_has_more_or_less_to_do_by_what_counts_is_news(
    seconds: tuple[float, ...], rests: bool
) -> None:
    assert (answer(costly(seconds), kept(costly())) is not None) is rests


@pytest.mark.parametrize(("second", "rests"), [(1.0, True), (1.03, False)])
def test_changes_of_levels_add_up(second: float, rests: bool) -> None:
    def two_levels(first: float, second: float) -> LoadModel:
        seconds = [first, *SECONDS[1:], second, *SECONDS[1:]]
        made = timed(seconds, 2 * [0, 0, 1, 1], level=np.repeat([0, 1], 4))
        return dataclasses.replace(made, migration_cost_s=np.full(8, 100.0))

    assert (answer(two_levels(1.03, second), kept(two_levels(1.0, 1.0))) is not None) is rests


def test_what_may_be_noise_of_what_was_measured_is_no_news() -> None:
    later = (1.0, 1.0, 1.0, 1.13)
    noisy = costly(later, error_s=np.full(4, 0.05))
    assert answer(costly(later), kept(costly())) is None
    assert answer(noisy, kept(costly())) is not None


def pinned(model: LoadModel) -> LoadModel:
    return dataclasses.replace(model, pinned=np.array([True, False, False, False]))


def moved(model: LoadModel) -> LoadModel:
    return dataclasses.replace(model, node_of=np.array([0, 1, 0, 1], dtype=np.int64))


def renamed(model: LoadModel) -> LoadModel:
    return dataclasses.replace(model, node_ids=("0", "7"))


def leaving(model: LoadModel) -> LoadModel:
    return dataclasses.replace(model, marked=np.array([False, True]))


def cheaper(model: LoadModel) -> LoadModel:
    return dataclasses.replace(model, migration_cost_s=np.full(4, 80.0))


@pytest.mark.parametrize("change", [pinned, moved, renamed, leaving, cheaper])
def test_another_question_is_asked_anew(change: Callable[[LoadModel], LoadModel]) -> None:
    assert answer(change(costly()), kept(costly())) is None


@pytest.mark.parametrize("change", [{"moves": ((4, 0),)}, {"moves": ((0, 2),)}, {"ends_s": (2.0,)}])
def test_what_does_not_fit_is_no_answer(change: dict[str, Any]) -> None:
    assert answer(costly(), dataclasses.replace(kept(costly()), **change)) is None


def test_another_policy_is_asked_anew() -> None:
    of = job(("planner: greedy", "planner: search\n    payback: 20"), ("maxMigrations: 4", "maxMigrations: 40"))
    assert answer(costly(), kept(costly()), of) is None


def test_chance_has_another_turn_after_some_cycles() -> None:
    model, answered = costly(), 0
    known: Searched | None = kept(model)
    while known is not None:
        plan, known = plan_at_rest(model, OF, plan_params(OF), known)
        answered += plan is not None
    assert answered == MOST_TIMES


def test_what_is_proven_uses_none_of_them_up() -> None:
    level = costly((1.0, 1.0, 1.0, 1.0))
    known = kept(level)
    assert plan_at_rest(level, OF, plan_params(OF), known)[1] is known


def test_only_searches_that_ended_without_a_gain_are_kept() -> None:
    model = timed([1.0, 1.0, 1.0, 1.5], [0, 1, 1, 1])
    assert searched(model, OF, plan_params(OF), plan_of(model, (1, 0))) is None
    late = dataclasses.replace(plan_of(costly()), notes=("The deadline came before the search was done.",))
    assert searched(costly(), OF, plan_params(OF), late) is None
    swinging = dataclasses.replace(costly(), load_series=np.tile([[9.0, 1.0, 9.0, 1.0], [1.0, 9.0, 1.0, 9.0]], (12, 1)))
    assert searched(swinging, OF, plan_params(OF), plan_of(swinging)) is None
    assert searched(leaving(costly()), OF, plan_params(OF), plan_of(leaving(costly()))) is None


def test_large_ones_are_not() -> None:
    executors = MOST_CELLS + 1
    many = timed([1.0] * executors, list(range(executors)), nodes=executors)
    assert searched(many, OF, plan_params(OF), plan_of(many)) is None
    groups = 2 * (MOST_MOVES + 1)
    moves = timed([1.0] * groups, [at % 2 for at in range(groups)])
    swapped = plan_of(moves, *((at, 1 - at % 2) for at in range(groups)))
    assert searched(moves, OF, plan_params(OF), swapped) is None


def test_it_survives_a_restart() -> None:
    model = costly()
    known = kept(model, plan_of(model, (0, 1), (2, 0)))
    assert from_json(to_json(Memory(searched=known))).searched == known


@pytest.mark.parametrize(("keeps", "lag_rows", "searches"), [(True, None, 1), (False, None, 3), (True, 1e6, 3)])
def test_cycles_ask_once_and_tell_the_same_while_no_rows_wait(
    monkeypatch: pytest.MonkeyPatch, keeps: bool, lag_rows: float | None, searches: int
) -> None:
    asked: list[LoadModel] = []
    solve = Solver.solve

    def counted(solver: Solver, model: LoadModel) -> Plan:
        asked.append(model)
        return solve(solver, model)

    monkeypatch.setattr(Solver, "solve", counted)
    if not keeps:
        monkeypatch.setattr(cycle, "searched", lambda *_: None)
    of = job(
        ("planner: greedy", "planner: search"),
        ("scaling: {mode: Auto", "scaling: {mode: 'Off'"),
        ("maxMigrations: 4", "maxMigrations: 40"),
    )
    uneven = even(2, 3, 10.0)
    uneven.loads[0] = 12.0  # whoever has it takes longer than the other
    world = warm(uneven, of)
    world.rates = {**world.rates, "lag_rows": lag_rows}
    world.turn(of)
    world.stored = dataclasses.replace(world.stored, searched=None)
    asked.clear()
    messages = [world.turn(of).verdict.message for _ in range(3)]
    assert len(asked) == searches
    assert len(set(messages)) == 1
