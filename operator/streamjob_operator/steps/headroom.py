"""How much more load the job survives as it is placed now, in figures and in words."""

from __future__ import annotations

from streamjob_operator.observed import QueryRates
from streamjob_operator.steps.estimate import Estimate
from streamjob_operator.values import Room
from streamjob_planners.rod.headroom import headroom


def room_of(seen: Estimate) -> Room | None:
    """Of today's placement; None without load, or where nobody measured it."""
    model = seen.model
    found = headroom(model, other_load=seen.other_load, fixed_ratio=_fixed_ratio(seen, seen.recent.rates))
    if found is None:
        return None
    return Room(
        alike_ratio=found.alike_ratio,
        any_ratio=found.any_ratio,
        full_executor=model.node_ids[found.full_node],
        mixes=found.mixes,
    )


def _fixed_ratio(seen: Estimate, rates: QueryRates) -> float:
    """Part of each trigger interval that no task explains; none where batches follow each other, and may get longer."""
    batch, interval_s = seen.model.batch, rates.trigger_interval_s
    return 0.0 if batch is None or not interval_s else min(1.0, batch.fixed_s / interval_s)


def sentence(room: Room) -> str:
    """For a person."""
    last = f"executor {room.full_executor} is full first."
    if room.any_ratio is None:
        return f"Survives {room.alike_ratio:.1f} x today's load if all of it grows alike; {last}"
    return (
        f"Survives {room.any_ratio:.1f} x today's load whatever grows of what the last {room.mixes} batches held, "
        f"{room.alike_ratio:.1f} x if all of it grows alike; {last}"
    )
