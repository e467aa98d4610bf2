"""Greedy (section 5.1, algorithm 1): components by depth-first search, then the best admissible move, again and again.

The algorithm as printed moves an operator before it looks whether the best profit is positive; here it stops first. An
operator that leaves may cut its component in two, of which the paper says nothing: the parts become components.
"""

from __future__ import annotations

import dataclasses

from streamjob_planners.components.cost import Adaptation
from streamjob_planners.components.graph import Members, OperatorGraph

LEAST_PROFIT = 1e-9
"""Part of the whole load below which a profit is rounding."""


def depth_first(graph: OperatorGraph) -> list[Members]:
    """The paper's InitialPartition: an unvisited child joins the component of the operator it was reached from.

    It does so when it is compatible with all of that component, else it begins a component of its own.
    """
    component_of: dict[int, int] = {}
    components: list[set[int]] = []
    reached = {one.target for one in graph.streams}
    for root in sorted(range(graph.n_operators), key=lambda one: (one in reached, one)):
        if root not in component_of:
            component_of[root] = len(components)
            components.append({root})
            _visit(graph, root, component_of, components)
    return [frozenset(one) for one in components]


def _visit(graph: OperatorGraph, root: int, component_of: dict[int, int], components: list[set[int]]) -> None:
    stack = [root]
    while stack:
        number = component_of[stack[-1]]
        child = next((one for one in graph.children[stack[-1]] if one not in component_of), None)
        if child is None:
            stack.pop()
            continue
        if not graph.key_of({child, *components[number]}):
            number = len(components)
            components.append(set())
        components[number].add(child)
        component_of[child] = number
        stack.append(child)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Move:
    """The paper's move(C_i, C_j, o_k) with its profit delta_ij(o_k) and what becomes of both components."""

    operator: int
    source: int
    target: int
    profit: float
    joined: Members
    left: tuple[Members, ...]


def greedy_plan(graph: OperatorGraph, adaptation: Adaptation, beta: float = float("inf")) -> list[Members]:
    """A CBP plan; no move's profit is positive any more. `beta` is the most that a component may move (section 4.2)."""
    return improved(graph, depth_first(graph), adaptation, beta)


def improved(graph: OperatorGraph, plan: list[Members], adaptation: Adaptation, beta: float) -> list[Members]:
    """Lines 3 to 15 of algorithm 1, from any plan of components."""
    components = dict(enumerate(_within(graph, plan, adaptation, beta)))
    moves = _moves(graph, components, set(components), adaptation, beta)
    while moves:
        best = max(moves.values(), key=lambda move: (move.profit, -move.operator, -move.target))
        if best.profit <= LEAST_PROFIT * max(graph.total, 1.0):
            break
        changed = {best.source, best.target}
        for number in changed:
            del components[number]
        fresh = max([*components, *changed]) + 1
        added = {fresh + place: members for place, members in enumerate((best.joined, *best.left))}
        components.update(added)
        moves = {key: move for key, move in moves.items() if move.source not in changed and move.target not in changed}
        moves |= _moves(graph, components, set(added), adaptation, beta)
    return sorted(components.values(), key=min)


def _within(graph: OperatorGraph, plan: list[Members], adaptation: Adaptation, beta: float) -> list[Members]:
    """A component that costs more than beta is taken apart: algorithm 1 says nothing about a start that does."""
    kept: list[Members] = []
    for members in plan:
        apart = len(members) > 1 and adaptation(members) > beta
        kept += [frozenset({one}) for one in sorted(members)] if apart else [members]
    return kept


def _moves(
    graph: OperatorGraph, components: dict[int, Members], changed: set[int], adaptation: Adaptation, beta: float
) -> dict[tuple[int, int], _Move]:
    """Every admissible move out of or into a changed component, by operator and target."""
    home = {one: number for number, members in components.items() for one in members}
    touched = {one for number in changed for one in components[number]}
    near = touched | {other for one in touched for other in graph.neighbours[one]}
    found = {}
    for operator in sorted(near):
        source = home[operator]
        for target in {home[other] for other in graph.neighbours[operator]} - {source}:
            if source in changed or target in changed:
                move = _move(graph, components, (operator, source, target), adaptation, beta)
                if move is not None:
                    found[operator, target] = move
    return found


def _move(
    graph: OperatorGraph,
    components: dict[int, Members],
    which: tuple[int, int, int],
    adaptation: Adaptation,
    beta: float,
) -> _Move | None:
    operator, source, target = which
    joined = components[target] | {operator}
    if not graph.key_of(joined):
        return None
    new_cost = adaptation(joined)
    if new_cost > beta:
        return None
    rest = components[source] - {operator}
    left = tuple(graph.parts(rest))
    communication = graph.between(operator, components[target]) - graph.between(operator, rest)
    before = adaptation(components[source]) + adaptation(components[target])
    after = new_cost + sum(adaptation(part) for part in left)
    profit = communication + before - after
    return _Move(operator=operator, source=source, target=target, profit=profit, joined=joined, left=left)
