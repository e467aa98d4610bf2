"""Memory of state as a hard limit of a placement, from what was measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from streamjob_operator.values import Snapshot
from streamjob_planners.model import Resource

STATE_MEMORY = "bytes of state in memory"
"""The resource's name in models and in the judge's sentences."""


def state_memory(snapshot: Snapshot, names: Sequence[str]) -> tuple[Resource, ...]:
    """The resource of a model with these nodes; none where nobody tells it, or where no placement can exceed it.

    A node without a limit of its own, as one that is gone, may hold all.
    """
    use = snapshot.state_memory_bytes
    if use is None:
        return ()
    total = float(use.sum())
    told = {one.executor_id: one.state_limit_bytes for one in snapshot.executors if one.state_limit_bytes is not None}
    limit = np.array([told.get(name, total) for name in names], dtype=np.float64)
    return (Resource(name=STATE_MEMORY, use=use, limit=limit),) if bool((limit < total).any()) else ()
