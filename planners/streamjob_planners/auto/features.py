"""What kind of job this is, in two figures of its load model."""

from __future__ import annotations

import dataclasses

from streamjob_planners.measures import sent_bps
from streamjob_planners.model import LoadModel, Objective, PlanParams


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Of one job.

    Attributes:
        traffic_ratio: load that traffic between key groups costs if all of it is remote, over all load; from 0.
        by_time: whether batch time is the objective, and not the load distance.
    """

    traffic_ratio: float
    by_time: bool


def features(model: LoadModel, params: PlanParams) -> Features:
    """Of a model, and of what is asked for."""
    by_time = params.objective_of(model) is Objective.BATCH_TIME
    return Features(traffic_ratio=_traffic(model), by_time=by_time)


def _traffic(model: LoadModel) -> float:
    load = float(model.load.sum())
    if model.traffic is None or load <= 0:
        return 0.0
    return 2.0 * model.traffic_load_ratio * float(sent_bps(model).sum()) / load
