"""A planner to measure ours by, apart from it: annealing by Metropolis of squared distances, again and again.

Plain on purpose: any group may go anywhere unmarked, at home or not, as long as the budget holds. What hurts is the
square of what each node is off a band; the first cooling has no band, later ones draw it below the best distance so
far, and each takes twice the steps of the one before, up to a limit.
"""

from __future__ import annotations

import time

import numba
import numpy as np

from streamjob_planners.model import Budget, IntArray, LoadModel

TRIAL_STEPS, STEPS, MOST_STEPS = 5_000, 250_000, 16_000_000
"""Steps of the first cooling, which tells how long one takes; of the second; and of the longest."""
HOT, COLD = 1.0, 0.002
"""First temperature: the square of this part of today's root mean square distance; last: of this part of a group."""
SAMPLES = 8
"""Groups looked at for a step, at most."""
TRIES = 12
"""Groups that are away looked at until one has to do with a node."""


def reference(model: LoadModel, budget: Budget, deadline_s: float, seed: int) -> IntArray:
    """A placement within the budget, (n_groups,); the last cooling takes what is left until the deadline."""
    began = time.perf_counter()
    cost = np.ones(model.n_groups) if budget.max_migrations is not None else np.array(model.migration_cost_s)
    allowed = float(budget.max_migrations if budget.max_migrations is not None else budget.max_cost_s or 0.0)
    mean = float(model.load.sum() / model.capacity[~model.marked].sum())
    fixed = (np.array(model.load), cost, np.array(model.capacity), np.array(model.marked), np.array(model.node_of))
    today, rng = np.array(model.node_of), np.random.default_rng(seed)
    apart = np.bincount(today, model.load, model.n_nodes) / model.capacity - mean
    hot, cold = HOT * float(np.sqrt((apart**2).mean())) + 1e-9, COLD * float(model.load.mean())
    best, reached, band, steps, wanted = today, stretch(model, today), 0.0, TRIAL_STEPS, STEPS
    until = began + deadline_s
    while steps > 0 and reached > 0.0:
        at, began = today.copy(), time.perf_counter()
        heat = (max(hot * rng.uniform(0.2, 1.0), 2 * cold) ** 2, cold**2)
        _anneal(fixed, at, (mean, band, allowed), heat, steps, int(rng.integers(1 << 31)))
        step_s = (time.perf_counter() - began) / steps
        if stretch(model, at) < reached:
            best, reached = at, stretch(model, at)
        band = float(rng.uniform(0.0, 1.0)) * reached if wanted > STEPS else 0.0
        left = (until - time.perf_counter()) / step_s
        steps, wanted = int(left if left < 2 * wanted else wanted), min(2 * wanted, MOST_STEPS)
    return best


def stretch(model: LoadModel, node_of: IntArray) -> float:
    """The load distance, or a marked node's utilisation above the mean if that is more; percent points."""
    marked, mean = model.marked, model.load.sum() / model.capacity[~model.marked].sum()
    apart = np.bincount(node_of, model.load, model.n_nodes) / model.capacity - mean
    return float(np.where(marked, apart, np.abs(apart)).max())


@numba.njit(cache=True)
def _anneal(fixed, at, knobs, heat, steps, seed):  # type: ignore[no-untyped-def]
    """Random steps of up to three groups, made by Metropolis' rule while it gets colder."""
    np.random.seed(seed)
    sums, lists, step = _sums(fixed, at), _lists(fixed, at), np.zeros((3, 2), dtype=np.int64)
    spent, temperature, cooled = _spent(fixed, at), heat[0], (heat[1] / heat[0]) ** (1.0 / steps)
    for _ in range(steps):
        temperature *= cooled
        pieces = _propose(fixed, at, (sums, lists), knobs, step)
        price = _price(fixed, at, step, pieces)
        if pieces == 0 or (price > 0.0 and spent + price > knobs[2] + 1e-9):
            continue
        change = 0.0
        for piece in range(pieces):
            change += _relocate(fixed, sums, knobs, step[piece, 0], at[step[piece, 0]], step[piece, 1])
        if change <= 0.0 or np.random.random() < np.exp(-change / temperature):
            spent += price
            for piece in range(pieces):
                _enter(fixed, at, lists, step[piece, 0], step[piece, 1])
            continue
        for piece in range(pieces - 1, -1, -1):
            _relocate(fixed, sums, knobs, step[piece, 0], step[piece, 1], at[step[piece, 0]])


@numba.njit(cache=True)
def _sums(fixed, at):  # type: ignore[no-untyped-def]
    """Load of each node."""
    sums = np.zeros(fixed[2].size)
    for group in range(at.size):
        sums[at[group]] += fixed[0][group]
    return sums


@numba.njit(cache=True)
def _spent(fixed, at):  # type: ignore[no-untyped-def]
    """Costs of the groups that are away."""
    spent = 0.0
    for group in range(at.size):
        spent += fixed[1][group] * int(at[group] != fixed[4][group])
    return spent


@numba.njit(cache=True)
def _lists(fixed, at):  # type: ignore[no-untyped-def]
    """Groups of each node, and in the last row those that are away; how many; their places in both."""
    n_nodes = fixed[2].size
    counts = np.zeros(n_nodes + 1, dtype=np.int64)
    for group in range(at.size):
        counts[at[group]] += 1
    width = min(at.size, 4 * counts.max() + 200)
    lists = np.zeros((n_nodes, width), dtype=np.int32)
    away, places = np.zeros(at.size, dtype=np.int32), np.zeros((2, at.size), dtype=np.int32)
    counts[:] = 0
    for group in range(at.size):
        lists[at[group], counts[at[group]]] = group
        places[0, group] = counts[at[group]]
        counts[at[group]] += 1
    return lists, counts, places, away


@numba.njit(cache=True)
def _enter(fixed, at, lists, group, node):  # type: ignore[no-untyped-def]
    """Move a group from list to list."""
    of, counts, places, away = lists
    here, home, last_row = at[group], fixed[4][group], counts.size - 1
    counts[here] -= 1
    last = of[here, counts[here]]
    of[here, places[0, group]] = last
    places[0, last] = places[0, group]
    of[node, counts[node]] = group
    places[0, group] = counts[node]
    counts[node] += 1
    at[group] = node
    if here == home:
        away[counts[last_row]] = group
        places[1, group] = counts[last_row]
        counts[last_row] += 1
    elif node == home:
        counts[last_row] -= 1
        last = away[counts[last_row]]
        away[places[1, group]] = last
        places[1, last] = places[1, group]


@numba.njit(cache=True)
def _pain(fixed, sums, knobs, node):  # type: ignore[no-untyped-def]
    """The square of what a node misses its band by, times its capacity."""
    apart = sums[node] / fixed[2][node] - knobs[0]
    off = max(0.0, (apart if fixed[3][node] else abs(apart)) - knobs[1])
    return off * off * fixed[2][node]


@numba.njit(cache=True)
def _relocate(fixed, sums, knobs, group, source, node):  # type: ignore[no-untyped-def]
    """Move a group's load; by how much that hurts."""
    before = _pain(fixed, sums, knobs, source) + _pain(fixed, sums, knobs, node)
    sums[source] -= fixed[0][group]
    sums[node] += fixed[0][group]
    return _pain(fixed, sums, knobs, source) + _pain(fixed, sums, knobs, node) - before


@numba.njit(cache=True)
def _price(fixed, at, step, pieces):  # type: ignore[no-untyped-def]
    """What a step adds to the costs."""
    price = 0.0
    for piece in range(pieces):
        group, node = step[piece]
        price += fixed[1][group] * (int(node != fixed[4][group]) - int(at[group] != fixed[4][group]))
    return price


@numba.njit(cache=True)
def _excess(fixed, sums, knobs, node):  # type: ignore[no-untyped-def]
    """Load above a node's share; all of it on a marked one."""
    return sums[node] if fixed[3][node] else sums[node] - knobs[0] * fixed[2][node]


@numba.njit(cache=True)
def _near(fixed, lists, node, wanted, samples):  # type: ignore[no-untyped-def]
    """The group of a node nearest to a load among a few; -1 on an empty node."""
    best, least = -1, 1e300
    if lists[1][node] > 0:
        for _ in range(samples):
            group = lists[0][node, np.random.randint(lists[1][node])]
            if abs(fixed[0][group] - wanted) < least:
                best, least = group, abs(fixed[0][group] - wanted)
    return best


@numba.njit(cache=True)
def _partner(fixed, sums, knobs, node, sign):  # type: ignore[no-untyped-def]
    """The one of four random nodes with the most excess (sign 1) or the least (-1), which is then unmarked; or -1."""
    best, most = -1, -1e300
    for _ in range(4):
        other = np.random.randint(sums.size)
        if other != node and not (sign < 0 and fixed[3][other]):
            excess = sign * _excess(fixed, sums, knobs, other)
            if excess > most:
                best, most = other, excess
    return best


@numba.njit(cache=True)
def _propose(fixed, at, tables, knobs, step):  # type: ignore[no-untyped-def]
    """Fill in a step that all groups may take; how many take part, 0 for none."""
    sums, lists = tables
    node, worst = 0, -1.0
    for _ in range(3):
        other = np.random.randint(sums.size)
        if _pain(fixed, sums, knobs, other) > worst:
            node, worst = other, _pain(fixed, sums, knobs, other)
    if np.random.random() < 0.45 or lists[1][sums.size] == 0:
        pieces = _send(fixed, at, tables, knobs, step, node)
    else:
        pieces = _change(fixed, at, tables, knobs, step, node)
    for piece in range(pieces):
        group, target = step[piece]
        if group < 0 or at[group] == target or (fixed[3][target] and target != fixed[4][group]):
            return 0
        if lists[1][target] + 3 >= lists[0].shape[1]:
            return 0
        for other in range(piece):
            if step[other, 0] == group:
                return 0
    return pieces


@numba.njit(cache=True)
def _send(fixed, at, tables, knobs, step, node):  # type: ignore[no-untyped-def]
    """A group to an emptier node; with chance another one back, or one that is away home."""
    sums, lists = tables
    over = _excess(fixed, sums, knobs, node) > 0
    other = _partner(fixed, sums, knobs, node, -1 if over else 1)
    if other < 0:
        return 0
    source, target = (node, other) if over else (other, node)
    wanted = (_excess(fixed, sums, knobs, source) - _excess(fixed, sums, knobs, target)) / 2
    group = _near(fixed, lists, source, wanted, np.random.randint(1, SAMPLES + 1))
    step[0, 0], step[0, 1] = group, target
    kind = np.random.randint(3)
    if kind == 0 or group < 0 or (kind == 2 and lists[1][sums.size] == 0):
        return 1
    if kind == 1:
        step[1, 0] = _near(fixed, lists, target, fixed[0][group] - wanted, np.random.randint(1, SAMPLES + 1))
        step[1, 1] = source
        return 2
    step[1, 0] = lists[3][np.random.randint(lists[1][sums.size])]
    step[1, 1] = fixed[4][step[1, 0]]
    return 2


@numba.njit(cache=True)
def _away(fixed, at, lists, home, here):  # type: ignore[no-untyped-def]
    """A group that is away, if possible from that home or on that node."""
    group = -1
    for _ in range(TRIES):
        group = lists[3][np.random.randint(lists[1][lists[1].size - 1])]
        if fixed[4][group] == home or at[group] == here:
            break
    return group


@numba.njit(cache=True)
def _change(fixed, at, tables, knobs, step, node):  # type: ignore[no-untyped-def]
    """A group goes home, and others make its journey; or it goes elsewhere, or changes places with one that is away."""
    sums, lists = tables
    group = _away(fixed, at, lists, node, node)
    home, here, kind = fixed[4][group], at[group], np.random.random()
    wanted = fixed[0][group] + (_excess(fixed, sums, knobs, home) - _excess(fixed, sums, knobs, here)) / 2
    samples = np.random.randint(1, SAMPLES + 1)
    step[0, 0], step[0, 1] = group, home
    if kind < 0.1:
        return 1
    if kind < 0.35:
        step[1, 0], step[1, 1] = _near(fixed, lists, home, wanted, samples), here
        return 2
    if kind < 0.55:
        step[1, 0], step[1, 1] = _near(fixed, lists, home, wanted, 1), here
        left = wanted - fixed[0][step[1, 0]] if step[1, 0] >= 0 else wanted
        step[2, 0], step[2, 1] = _near(fixed, lists, home, left, samples), here
        return 3
    second = _away(fixed, at, lists, home, here)
    if kind < 0.7:
        step[1, 0], step[1, 1] = second, fixed[4][second]
        step[2, 0], step[2, 1] = _near(fixed, lists, home, wanted + fixed[0][second], samples), here
        return 3
    if kind < 0.85:
        step[0, 1] = np.random.randint(sums.size)
        return 1
    step[0, 1], step[1, 0], step[1, 1] = at[second], second, here
    return 2
