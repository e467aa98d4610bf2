"""A queueing simulation of operator chains on nodes (section 6.2.1), event by event.

Every node serves its tuples first come, first served. An operator on the move is suspended: what waits for it goes with
it, what arrives for it waits. The dissertation's own simulator (CSIM) and its node scheduler are not to be had.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

BIN_S = 0.1
"""Arrivals at operators are counted in bins of this length; statistics windows are made of them."""
NEVER = 1e300


class State(NamedTuple):
    """Arrays that the event loop changes. Tuples are slots of a pool, chained into queues."""

    clock: np.ndarray  # [now]
    random: np.ndarray  # [state of xorshift]
    arrival_s: np.ndarray  # of tuples at chains, ascending, (n_arrivals,)
    arrival_chain: np.ndarray  # (n_arrivals,)
    cursor: np.ndarray  # [next arrival, first free slot, tuples lost because the pool was full]
    following: np.ndarray  # (n_slots,)
    operator: np.ndarray  # (n_slots,)
    born_s: np.ndarray  # (n_slots,)
    head: np.ndarray  # of nodes and then of suspended operators, (n_nodes + n_operators,)
    tail: np.ndarray
    done_s: np.ndarray  # when the tuple in service is done, (n_nodes,)
    served: np.ndarray  # its slot, (n_nodes,)
    node_of: np.ndarray  # (n_operators,)
    start_s: np.ndarray  # when an operator's move begins, (n_operators,)
    end_s: np.ndarray  # and when it is over
    target: np.ndarray
    next_move: np.ndarray  # [earliest of both]
    selectivity: np.ndarray  # (n_operators,)
    length: np.ndarray  # [operators in a chain]
    service_s: np.ndarray  # per tuple, (n_operators,)
    arrived: np.ndarray  # tuples at each operator in each bin, (n_bins, n_operators)
    out: np.ndarray  # results, the sum of their latencies, and the greatest one, in each second, (n_seconds, 3)


def new_state(
    n_nodes: int,
    node_of: np.ndarray,
    selectivity: np.ndarray,
    length: int,
    arrivals: tuple[np.ndarray, np.ndarray],
    duration_s: float,
    seed: int,
    service_s: float | np.ndarray = 0.001,
    n_slots: int = 1 << 20,
) -> State:
    """Empty queues. `arrivals`: times, ascending, and the chain of each."""
    n_operators = node_of.size
    following = np.arange(1, n_slots + 1)
    following[-1] = -1
    return State(
        clock=np.zeros(1),
        random=np.array([seed * 2654435761 + 88172645463325252], dtype=np.uint64),
        arrival_s=arrivals[0],
        arrival_chain=arrivals[1],
        cursor=np.zeros(3, dtype=np.int64),
        following=following,
        operator=np.zeros(n_slots, dtype=np.int64),
        born_s=np.zeros(n_slots),
        head=np.full(n_nodes + n_operators, -1),
        tail=np.full(n_nodes + n_operators, -1),
        done_s=np.full(n_nodes, NEVER),
        served=np.full(n_nodes, -1),
        node_of=node_of.astype(np.int64).copy(),
        start_s=np.full(n_operators, NEVER),
        end_s=np.full(n_operators, NEVER),
        target=np.zeros(n_operators, dtype=np.int64),
        next_move=np.full(1, NEVER),
        selectivity=selectivity,
        length=np.array([length]),
        service_s=np.full(n_operators, service_s),
        arrived=np.zeros((round(duration_s / BIN_S) + 1, n_operators)),
        out=np.zeros((int(duration_s) + 1, 3)),
    )


def schedule_moves(state: State, target: np.ndarray, migration_s: float) -> None:
    """Move operators to their target, (n_operators,): one after another between the same two nodes, pairs side by side.

    Only to be called while nothing moves.
    """
    free_at: dict[tuple[int, int], float] = {}
    for operator in np.flatnonzero(state.node_of != target).tolist():
        ends = sorted((int(state.node_of[operator]), int(target[operator])))
        begin = free_at.get((ends[0], ends[1]), float(state.clock[0]))
        state.start_s[operator], state.end_s[operator] = begin, begin + migration_s
        state.target[operator] = target[operator]
        free_at[ends[0], ends[1]] = begin + migration_s
    state.next_move[0] = min(state.start_s.min(), state.end_s.min())


def moving(state: State) -> bool:
    """Whether any operator is on the move or about to."""
    return bool(state.next_move[0] < NEVER)


@numba.njit(cache=True)
def _chance(state):
    x = state.random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state.random[0] = x
    return float(x >> np.uint64(11)) / 9007199254740992.0


@numba.njit(cache=True)
def _append(state, queue, slot):
    state.following[slot] = -1
    if state.head[queue] < 0:
        state.head[queue] = slot
    else:
        state.following[state.tail[queue]] = slot
    state.tail[queue] = slot


@numba.njit(cache=True)
def _serve(state, node, now):
    slot = state.head[node]
    if slot < 0:
        state.served[node], state.done_s[node] = -1, NEVER
        return
    state.head[node] = state.following[slot]
    state.served[node], state.done_s[node] = slot, now + state.service_s[state.operator[slot]]


@numba.njit(cache=True)
def _queue(state, slot, now):
    """A tuple waits at its operator's node, or at the operator itself while that is suspended."""
    operator = state.operator[slot]
    if state.start_s[operator] >= NEVER and state.end_s[operator] < NEVER:
        _append(state, state.done_s.size + operator, slot)
        return
    node = state.node_of[operator]
    _append(state, node, slot)
    if state.served[node] < 0:
        _serve(state, node, now)


@numba.njit(cache=True)
def _arrive(state, operator, born, now):
    slot = state.cursor[1]
    if slot < 0:
        state.cursor[2] += 1
        return
    state.cursor[1] = state.following[slot]
    state.operator[slot], state.born_s[slot] = operator, born
    state.arrived[int(now / BIN_S), operator] += 1.0
    _queue(state, slot, now)


@numba.njit(cache=True)
def _finish(state, node, now):
    """The tuple in service is done: results of its operator go on, or out of the system."""
    slot = state.served[node]
    operator, born = state.operator[slot], state.born_s[slot]
    state.following[slot] = state.cursor[1]
    state.cursor[1] = slot
    _serve(state, node, now)
    if (operator + 1) % state.length[0] == 0:
        second = int(now)
        state.out[second, 0] += 1.0
        state.out[second, 1] += now - born
        state.out[second, 2] = max(state.out[second, 2], now - born)
        return
    whole = int(state.selectivity[operator])
    results = whole + (1 if _chance(state) < state.selectivity[operator] - whole else 0)
    for _ in range(results):
        _arrive(state, operator + 1, born, now)


@numba.njit(cache=True)
def _suspend(state, operator):
    """The operator's waiting tuples leave its node's queue, in their order."""
    node, own = state.node_of[operator], state.done_s.size + operator
    slot, state.head[node] = state.head[node], -1
    while slot >= 0:
        after = state.following[slot]
        _append(state, own if state.operator[slot] == operator else node, slot)
        slot = after


@numba.njit(cache=True)
def _resume(state, operator, now):
    state.node_of[operator] = state.target[operator]
    own = state.done_s.size + operator
    slot, state.head[own] = state.head[own], -1
    while slot >= 0:
        after = state.following[slot]
        _queue(state, slot, now)
        slot = after


@numba.njit(cache=True)
def _moves(state, now):
    state.next_move[0] = NEVER
    for operator in range(state.node_of.size):
        if state.start_s[operator] <= now:
            state.start_s[operator] = NEVER
            _suspend(state, operator)
        if state.end_s[operator] <= now and state.start_s[operator] >= NEVER:
            state.end_s[operator] = NEVER
            _resume(state, operator, now)
        state.next_move[0] = min(state.next_move[0], state.start_s[operator], state.end_s[operator])


@numba.njit(cache=True)
def advance(state, until):
    """Every event before `until`, in the order of time."""
    while True:
        node, first = 0, state.done_s[0]
        for other in range(1, state.done_s.size):
            if state.done_s[other] < first:
                node, first = other, state.done_s[other]
        at = state.cursor[0]
        coming = state.arrival_s[at] if at < state.arrival_s.size else NEVER
        now = min(first, coming, state.next_move[0])
        if now >= until:
            break
        if now == state.next_move[0]:
            _moves(state, now)
        elif now == first:
            _finish(state, node, now)
        else:
            state.cursor[0] += 1
            _arrive(state, state.arrival_chain[at] * state.length[0], coming, now)
    state.clock[0] = until
