"""Greedy, MWSC and the bound against trying everything, on 12 graphs of 6 operators."""

from __future__ import annotations

import itertools

import pytest

from streamjob_planners.components.candidates import enumerated, grown
from streamjob_planners.components.cost import Adaptation, faults, plan_cost
from streamjob_planners.components.cover import chosen_greedily, without_redundant
from streamjob_planners.components.graph import OperatorGraph, Stream
from streamjob_planners.components.greedy import depth_first, greedy_plan
from streamjob_planners.components.labels import least_communication
from streamjob_planners.components.mwsc import Form, MwscParams, mwsc_plan

WHOLE = MwscParams(largest=7, most=10_000)


def chain(*keys: str) -> OperatorGraph:
    """Operators in a row; attributes are letters."""
    streams = tuple(Stream(source=i, target=i + 1, load=10.0) for i in range(len(keys) - 1))
    return OperatorGraph(keys=tuple(frozenset(key) for key in keys), streams=streams)


def test_compatibility_is_not_transitive() -> None:
    """The paper's example of section 3.1: {a1, a2}, {a2, a3} and {a1, a3}."""
    graph = chain("ab", "bc", "ac")
    assert graph.is_component(frozenset({0, 1}))
    assert graph.is_component(frozenset({1, 2}))
    assert not graph.is_component(frozenset({0, 1, 2}))
    assert not graph.is_component(frozenset({0, 2})), "compatible, but not connected"


def test_what_a_component_is_agrees_with_the_definition_word_by_word(graphs, slow) -> None:
    for graph, _ in graphs:
        for size in range(1, 7):
            for members in map(frozenset, itertools.combinations(range(6), size)):
                assert graph.is_component(members) == slow.component(graph, members)


def test_the_cost_is_equation_1_stream_by_stream(graphs, slow) -> None:
    for graph, adaptation in graphs:
        for plan in itertools.islice(slow.plans(graph, float("inf"), adaptation), 50):
            assert plan_cost(graph, plan, adaptation).total == pytest.approx(slow.cost(graph, plan, adaptation))


def test_depth_first_puts_a_child_with_its_parent_or_alone() -> None:
    # 0 sends to 1 and 3; 1 sends to 2. From 0: 1 joins (b), 2 is incompatible with {0, 1}, 3 joins by b.
    keys = ("ab", "bc", "cd", "b")
    streams = tuple(Stream(source=i, target=j, load=1.0) for i, j in ((0, 1), (0, 3), (1, 2)))
    graph = OperatorGraph(keys=tuple(frozenset(key) for key in keys), streams=streams)
    assert depth_first(graph) == [frozenset({0, 1, 3}), frozenset({2})]


def test_greedy_ends_where_the_slow_one_ends(graphs, slow) -> None:
    for graph, adaptation in graphs:
        theirs = slow.greedy(graph, depth_first(graph), adaptation, float("inf"))
        assert set(greedy_plan(graph, adaptation)) == set(theirs)


def test_greedy_stops_at_a_plan_that_no_move_betters_and_is_not_always_best(graphs, slow) -> None:
    worse = 0
    for graph, adaptation in graphs:
        plan = greedy_plan(graph, adaptation)
        assert faults(graph, plan, adaptation) == []
        best = min(slow.cost(graph, one, adaptation) for one in slow.plans(graph, float("inf"), adaptation))
        cost = plan_cost(graph, plan, adaptation).total
        assert cost >= best - 1e-6
        worse += cost > best + 1e-6
    assert 0 < worse < len(graphs)


def test_beta_bounds_every_component_of_more_than_one_operator(graphs) -> None:
    for graph, adaptation in graphs:
        for plan in (greedy_plan(graph, adaptation, 60.0), mwsc_plan(graph, adaptation, beta_of(60.0)).components):
            assert faults(graph, plan, adaptation, 60.0) == []


def beta_of(beta: float) -> MwscParams:
    return MwscParams(largest=7, most=10_000, beta=beta)


@pytest.mark.parametrize("beta", [float("inf"), 60.0])
def test_mwsc_as_a_partition_is_the_best_plan_there_is(graphs, slow, beta) -> None:
    for graph, adaptation in graphs:
        found = mwsc_plan(graph, adaptation, beta_of(beta))
        best = min(slow.cost(graph, one, adaptation) for one in slow.plans(graph, beta, adaptation))
        assert found.proven
        assert plan_cost(graph, found.components, adaptation).total == pytest.approx(best)


def test_the_printed_weights_favour_few_sets_over_cheap_ones() -> None:
    """Equation (3)'s "constant" (|S| - 1) l grows with the number of sets: a dearer plan of fewer sets wins."""
    graph = chain("a", "a")
    adaptation = {frozenset({0}): 1.0, frozenset({1}): 1.0, frozenset({0, 1}): 15.0}.__getitem__
    apart = [frozenset({0}), frozenset({1})]
    assert plan_cost(graph, apart, adaptation).total == 12.0
    assert mwsc_plan(graph, adaptation, WHOLE).components == apart
    printed = mwsc_plan(graph, adaptation, MwscParams(form=Form.PRINTED, largest=7, most=10_000))
    assert printed.components == [frozenset({0, 1})], "15 + 10 - 10 is less than twice 1 + 10"


def test_printed_and_greedy_forms_give_plans_of_components(graphs) -> None:
    for graph, adaptation in graphs:
        exact = plan_cost(graph, mwsc_plan(graph, adaptation, WHOLE).components, adaptation).total
        for form in (Form.PRINTED, Form.GREEDY):
            found = mwsc_plan(graph, adaptation, MwscParams(form=form, largest=7, most=10_000)).components
            assert faults(graph, found, adaptation) == []
            assert plan_cost(graph, found, adaptation).total >= exact - 1e-6


def test_too_many_candidates_are_chosen_greedily(graphs) -> None:
    graph, adaptation = graphs[0]
    found = mwsc_plan(graph, adaptation, MwscParams(largest=7, most=10_000, exact_up_to=3))
    assert not found.proven
    assert faults(graph, found.components, adaptation) == []


def test_an_effort_too_small_for_the_solver_gives_greedys_plan(graphs) -> None:
    for graph, adaptation in graphs:
        found = mwsc_plan(graph, adaptation, MwscParams(largest=6, most=10_000, effort=1e-9))
        assert plan_cost(graph, found.components, adaptation).total <= greedy_cost(graph, adaptation) + 1e-6
        assert faults(graph, found.components, adaptation) == []
        plan, bound = least_communication(graph, 1e-9)
        assert faults(graph, plan, adaptation) == []
        assert bound <= plan_cost(graph, plan, adaptation).communication + 1e-6


def greedy_cost(graph: OperatorGraph, adaptation: Adaptation) -> float:
    return plan_cost(graph, greedy_plan(graph, adaptation), adaptation).total


def test_the_greedy_cover_takes_the_least_weight_for_each_new_operator() -> None:
    candidates = [frozenset({0, 1, 2}), frozenset({0}), frozenset({1, 2}), frozenset({3}), frozenset({2, 3})]
    chosen = chosen_greedily(4, candidates, [6.0, 1.0, 5.0, 3.0, 3.0])
    assert chosen == [frozenset({0}), frozenset({2, 3}), frozenset({1, 2})]


def test_an_operator_covered_twice_stays_where_it_exchanges_most() -> None:
    streams = tuple(Stream(source=i, target=i + 1, load=load) for i, load in enumerate((1.0, 5.0)))
    graph = OperatorGraph(keys=(frozenset("a"),) * 3, streams=streams)
    assert without_redundant(graph, [frozenset({0, 1}), frozenset({1, 2})]) == [frozenset({0}), frozenset({1, 2})]


def test_enumeration_lists_every_component_up_to_a_size(graphs, slow) -> None:
    for graph, _ in graphs:
        found, size = enumerated(graph, 4, 10_000)
        every = [frozenset(c) for n in range(1, 5) for c in itertools.combinations(range(6), n)]
        assert size <= 4
        assert sorted(map(sorted, found)) == sorted(sorted(one) for one in every if slow.component(graph, one))


def test_enumeration_stops_before_a_size_that_does_not_fit(graphs) -> None:
    graph = graphs[0][0]
    whole, _ = enumerated(graph, 2, 10_000)
    found, size = enumerated(graph, 6, len(whole))
    assert (found, size) == (whole, 2)


def test_grown_candidates_are_components(graphs, slow) -> None:
    for graph, _ in graphs:
        assert all(slow.component(graph, one) for one in grown(graph))


def test_the_bound_is_the_least_communication_of_any_plan(graphs, slow) -> None:
    for graph, _ in graphs:
        plan, bound = least_communication(graph, 2.0)
        best = min(slow.cost(graph, one, lambda _: 0.0) for one in slow.plans(graph, float("inf"), lambda _: 0.0))
        assert slow.cost(graph, plan, lambda _: 0.0) == pytest.approx(best)
        assert bound == pytest.approx(best, abs=1e-3)


@pytest.mark.parametrize(
    ("keys", "stream", "said"),
    [
        (("", "a"), (0, 1, 1.0), "operator 0 has none"),
        (("a", "a"), (0, 2, 1.0), "0 to 2 given, of 2 operators"),
        (("a", "a"), (1, 1, 1.0), "1 to 1 with 1.0"),
        (("a", "a"), (0, 1, float("nan")), "0 to 1 with nan"),
    ],
)
def test_a_wrong_graph_is_refused_with_the_field(keys, stream, said) -> None:
    source, target, load = stream
    with pytest.raises(ValueError, match=said):
        OperatorGraph(
            keys=tuple(frozenset(key) for key in keys), streams=(Stream(source=source, target=target, load=load),)
        )
