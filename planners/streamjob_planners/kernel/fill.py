"""Making a state, and setting it to a placement."""

from __future__ import annotations

import numpy as np

from streamjob_planners.kernel.compiled import compiled, inlined
from streamjob_planners.kernel.state import (
    CAME,
    LEFT,
    MOST_PIECES,
    N_AWAY,
    NOBODY,
    Fixed,
    State,
    must_gain_s,
    put,
    scheduled,
)
from streamjob_planners.model import IntArray


@inlined
def clear(fixed: Fixed, state: State) -> None:
    """Empty all nodes."""
    state.counters[N_AWAY] = 0
    state.crossed[:] = 0
    state.newest[:] = NOBODY
    state.paused[0] = 0.0
    for column in range(3):
        state.spent[column] = 0.0
    for node in range(state.filled.size):
        state.filled[node], state.loads[node], state.dragged[node] = 0, 0.0, 0.0
        for row in range(state.held.shape[0]):
            state.held[row, fixed.node[node]] = 0.0


@compiled
def fill(fixed: Fixed, state: State, node_of: IntArray) -> None:
    """Set the state to a placement; bands are set by `set_bands` afterwards."""
    clear(fixed, state)
    for group in range(node_of.size):
        node = node_of[group]
        put(fixed, state, group, node)
        state.loads[node] += fixed.load[group]
        if fixed.marked[node]:
            state.dragged[node] += fixed.drag[group]
        for row in range(fixed.uses.shape[0]):
            state.held[row, fixed.node[node]] += fixed.uses[row, group]
        if node != fixed.home[group]:
            state.crossed[LEFT, fixed.home[group]] += 1
            state.crossed[CAME, node] += 1
            state.paused[0] += must_gain_s(fixed, group, node)
            for column in range(3):
                state.spent[column] += fixed.prices[group, column]
    for node in range(fixed.slots.size):
        if fixed.slots[node] > 1:
            state.sums[node] = state.loads[node]
            state.loads[node] = scheduled(fixed, state, node, 0)


def new_state(fixed: Fixed, node_of: IntArray, seed: int) -> State:
    """A state that holds `node_of`, with bands that nothing misses. `seed`: 1 to 2**31 - 2."""
    n_groups, n_nodes, n_resources = fixed.load.size, fixed.capacity.size, fixed.uses.shape[0]
    width = int(np.bincount(node_of, minlength=n_nodes).max(initial=0))
    width = min(n_groups, 2 * width + 64) + 4
    state = State(
        at=np.zeros(n_groups, dtype=np.int64),
        loads=np.zeros(n_nodes),
        sums=np.zeros(n_nodes),
        dragged=np.zeros(n_nodes),
        spent=np.zeros(3),
        paused=np.zeros(1),
        held=np.zeros((n_resources, int(fixed.node.max(initial=-1)) + 1)),
        slots=np.zeros((n_nodes, width), dtype=np.int64),
        filled=np.zeros(n_nodes, dtype=np.int64),
        slot=np.zeros(n_groups, dtype=np.int64),
        away=np.zeros(n_groups, dtype=np.int64),
        away_at=np.zeros(n_groups, dtype=np.int64),
        newest=np.full((2, n_nodes), NOBODY, dtype=np.int64),
        older=np.zeros((2, n_groups), dtype=np.int64),
        newer=np.zeros((2, n_groups), dtype=np.int64),
        low=np.full(n_nodes, -np.inf),
        high=np.full(n_nodes, np.inf),
        middle=np.full(n_nodes, np.inf),
        bend=np.zeros(n_nodes),
        steep=np.zeros(1, dtype=np.bool_),
        free_at=np.zeros(int(fixed.slots.max(initial=1))),
        focus=np.zeros(n_nodes, dtype=np.int64),
        focus_at=np.full(n_nodes, -1, dtype=np.int64),
        off=np.zeros(n_nodes, dtype=np.bool_),
        counters=np.array([0, 0, 0, seed], dtype=np.int64),
        groups=np.zeros(MOST_PIECES, dtype=np.int64),
        targets=np.zeros(MOST_PIECES, dtype=np.int64),
        saved=np.zeros((MOST_PIECES, 4)),
        crossed=np.zeros((2, n_nodes), dtype=np.int64),
        most_crossed=np.full((2, n_nodes), n_groups, dtype=np.int64),
    )
    fill(fixed, state, node_of)
    return state
