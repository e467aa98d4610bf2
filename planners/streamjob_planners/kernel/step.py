"""One step of the search: up to four groups change place at once, or none of them."""

from __future__ import annotations

from streamjob_planners.kernel.compiled import inlined
from streamjob_planners.kernel.state import (
    CAME,
    LEFT,
    Fixed,
    State,
    is_full,
    must_gain_s,
    put,
    refocus,
    scheduled,
    take,
)


@inlined
def pain(fixed: Fixed, state: State, node: int, drain: float) -> float:
    """How far a node is off its band (utilisation), its bend's part, and `drain` per weight that waits on it.

    In a steep pass the square of how far counts, times its capacity.
    """
    load, weight = state.loads[node], fixed.capacity[node]
    off = max(0.0, load - state.high[node], state.low[node] - load) / weight
    if state.steep[0]:
        off *= off * weight
    off += state.bend[node] * (load / weight) * (load / weight)
    if fixed.marked[node]:
        off += drain * state.dragged[node]
    return float(off)


@inlined
def shift_load(fixed: Fixed, state: State, group: int, target: int, sign: int) -> None:
    """Everything but loads and slots that a change of place changes; `sign` -1 takes it back."""
    home, source = fixed.home[group], state.at[group]
    change = sign * (int(target != home) - int(source != home))
    if change != 0:
        for column in range(3):
            state.spent[column] += change * fixed.prices[group, column]
        state.crossed[LEFT, home] += change
    state.paused[0] += sign * (must_gain_s(fixed, group, target) - must_gain_s(fixed, group, source))
    if target != home:
        state.crossed[CAME, target] += sign
    if source != home:
        state.crossed[CAME, source] -= sign
    for node, load in ((source, -fixed.load[group]), (target, fixed.load[group])):
        if fixed.slots[node] > 1:
            state.sums[node] += sign * load
    for row in range(fixed.uses.shape[0]):
        state.held[row, fixed.node[source]] -= sign * fixed.uses[row, group]
        state.held[row, fixed.node[target]] += sign * fixed.uses[row, group]


@inlined
def carry(fixed: Fixed, state: State, piece: int) -> None:
    """Make one piece of a step, slots left out.

    Cells of several slots get the least load that their list schedule can make of their tasks, see `settle`.
    """
    group, target = state.groups[piece], state.targets[piece]
    source = state.at[group]
    saved = state.saved[piece]
    saved[0], saved[1] = state.loads[source], state.loads[target]
    saved[2], saved[3] = state.dragged[source], state.dragged[target]
    state.loads[source] -= fixed.load[group]
    state.loads[target] += fixed.load[group]
    if fixed.marked[source]:
        state.dragged[source] -= fixed.drag[group]
    if fixed.marked[target]:
        state.dragged[target] += fixed.drag[group]
    shift_load(fixed, state, group, target, 1)
    for node in (source, target):
        if fixed.slots[node] > 1:
            state.loads[node] = state.sums[node]


@inlined
def try_piece(fixed: Fixed, state: State, piece: int, drain: float) -> float:
    """The same, and give the change of pain."""
    source, target = state.at[state.groups[piece]], state.targets[piece]
    before = pain(fixed, state, source, drain) + pain(fixed, state, target, drain)
    carry(fixed, state, piece)
    return pain(fixed, state, source, drain) + pain(fixed, state, target, drain) - before


@inlined
def settle(fixed: Fixed, state: State, pieces: int, drain: float) -> float:
    """Make the list schedules that a step changes, and give what that adds to its change of pain, 0 or more.

    They are dear, so a step that is bad enough by sums alone never gets here.
    """
    added = 0.0
    for piece in range(pieces):
        for node in (state.at[state.groups[piece]], state.targets[piece]):
            if fixed.slots[node] > 1 and state.loads[node] == state.sums[node]:
                before = pain(fixed, state, node, drain)
                state.loads[node] = scheduled(fixed, state, node, pieces)
                added += pain(fixed, state, node, drain) - before
    return added


@inlined
def take_back(fixed: Fixed, state: State, piece: int) -> None:
    """Undo a piece; pieces are undone in reverse order."""
    group, target = state.groups[piece], state.targets[piece]
    source = state.at[group]
    saved = state.saved[piece]
    state.loads[source], state.loads[target] = saved[0], saved[1]
    state.dragged[source], state.dragged[target] = saved[2], saved[3]
    shift_load(fixed, state, group, target, -1)


@inlined
def keep(fixed: Fixed, state: State, piece: int) -> None:
    """Make a piece that was tried final."""
    group, target = state.groups[piece], state.targets[piece]
    source = state.at[group]
    take(fixed, state, group)
    put(fixed, state, group, target)
    for node in (source, target):
        refocus(fixed, state, node)


@inlined
def possible(fixed: Fixed, state: State, pieces: int) -> bool:
    """Whether the groups of a step may go where it sends them, budget and resources left out."""
    for piece in range(pieces):
        group, target = state.groups[piece], state.targets[piece]
        if state.at[group] == target or not fixed.movable[group] or fixed.base[state.at[group]] != fixed.base[target]:
            return False
        for other in range(piece):
            if state.groups[other] == group:
                return False
        if target != fixed.home[group] and (fixed.marked[target] or is_full(state, target)):
            return False
    return True


@inlined
def crossings_allowed(fixed: Fixed, state: State, pieces: int) -> bool:
    """Whether no node gives or takes more groups than it may, in the step that was tried."""
    for piece in range(pieces):
        target, home = state.targets[piece], fixed.home[state.groups[piece]]
        if target != home:
            if state.crossed[CAME, target] > state.most_crossed[CAME, target]:
                return False
            if state.crossed[LEFT, home] > state.most_crossed[LEFT, home]:
                return False
    return True


@inlined
def within_limits(fixed: Fixed, state: State, pieces: int) -> bool:
    """Whether the step that was tried keeps the budget, the resources of its targets, and what may cross."""
    for column in range(3):
        if state.spent[column] > fixed.allowances[column]:
            return False
    for row in range(fixed.uses.shape[0]):
        for piece in range(pieces):
            node = fixed.node[state.targets[piece]]
            if state.held[row, node] > fixed.limits[row, node]:
                return False
    return crossings_allowed(fixed, state, pieces)


@inlined
def relocate(fixed: Fixed, state: State, group: int, target: int) -> None:
    """A group goes to a node, whatever that hurts or costs; not where cells have several slots."""
    state.groups[0], state.targets[0] = group, target
    carry(fixed, state, 0)
    keep(fixed, state, 0)


@inlined
def make(fixed: Fixed, state: State, pieces: int) -> bool:
    """Make the step in `state.groups`, `state.targets`, whatever it hurts, if it keeps the limits; whether it does.

    Not where cells have several slots.
    """
    if not possible(fixed, state, pieces):
        return False
    for piece in range(pieces):
        carry(fixed, state, piece)
    good = within_limits(fixed, state, pieces)
    for piece in range(pieces):
        if good:
            keep(fixed, state, piece)
        else:
            take_back(fixed, state, pieces - 1 - piece)
    return good


@inlined
def attempt(fixed: Fixed, state: State, pieces: int, knobs: tuple[float, float, float, float]) -> bool:
    """Make the step in `state.groups`, `state.targets` if it costs at most a threshold; says whether it was made.

    `knobs`: the threshold, the pain per drain weight, the price per move and that per second of pause. Its cost is the
    change of pain, plus the price of the moves that it adds.
    """
    threshold, drain, price, toll = knobs
    if not possible(fixed, state, pieces):
        return False
    pause_before, moves_before, cost, done = state.paused[0], state.spent[1], 0.0, 0
    for piece in range(pieces):
        cost += try_piece(fixed, state, piece, drain)
        done += 1
    cost += price * (state.spent[1] - moves_before) + toll * (state.paused[0] - pause_before)
    good = cost <= threshold and within_limits(fixed, state, pieces)
    if not good or cost + settle(fixed, state, pieces, drain) > threshold:
        for piece in range(done - 1, -1, -1):
            take_back(fixed, state, piece)
        return False
    for piece in range(pieces):
        keep(fixed, state, piece)
    return True
