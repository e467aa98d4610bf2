"""Threshold annealing: random steps at nodes off their bands or to be drained, kept while they cost no more than a
falling threshold."""

from __future__ import annotations

from streamjob_planners.kernel.compiled import compiled
from streamjob_planners.kernel.proposals import propose
from streamjob_planners.kernel.state import N_OFF, Fixed, State, waiting_weight
from streamjob_planners.kernel.step import attempt


@compiled
def anneal(
    fixed: Fixed, state: State, knobs: tuple[float, float, float, float, float, float], span: tuple[int, int, int]
) -> int:
    """Make steps span[0] to span[1] of a pass of span[2]; says at which it stopped, early once its goal is met.

    `knobs`: threshold at the pass's first step (percent points) and at its last, pain per drain weight that waits on
    marked nodes, price per move and per second of pause, and the drain weight that must wait at most when it stops
    early. The threshold falls by the same ratio at every step, or, where the last one is 0, with the cube of what is
    left of the pass, so that most of it is spent at small thresholds.
    """
    heat, least, drain, price, toll, waiting = knobs
    for step in range(span[0], span[1]):
        if state.counters[N_OFF] == 0 and waiting_weight(state) <= waiting:
            return step
        pieces = propose(fixed, state)
        if pieces > 0:
            left = 1.0 - step / span[2]
            threshold = least * (heat / least) ** left if least > 0.0 else heat * left * left * left
            attempt(fixed, state, pieces, (threshold, drain, price, toll))
    return span[1]
