"""What is wished for while nothing is known of batches: the query waits for data, or predictions are too far off."""

from __future__ import annotations

import dataclasses

from streamjob_operator.scaling.rule import Situation
from streamjob_operator.scaling.utilization.needs import Need, by_load, by_memory
from streamjob_operator.steps.idle import waits


def without_batches(situation: Situation) -> Need:
    """By the state alone for a query that waits; by the load of slots and the state otherwise."""
    state = by_memory(situation)
    idle = waits(situation.snapshot)
    if idle is not None:
        return dataclasses.replace(state, calm=state.executors, why=f"{idle}; {state.why}")
    load = by_load(situation)
    larger = max(load, state, key=lambda need: need.executors)
    calm = max(load.calm, state.calm)
    return dataclasses.replace(larger, calm=calm, why=f"{larger.why}; batches are not predicted")
