"""What kind of job this is, in a figure of its load model."""

from __future__ import annotations

import dataclasses

from streamjob_planners.measures import sent_bps
from streamjob_planners.model import LoadModel


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Of one job.

    Attributes:
        traffic_ratio: load that traffic between key groups costs if all of it is remote, over all load; from 0.
    """

    traffic_ratio: float


def features(model: LoadModel) -> Features:
    """Of a model."""
    return Features(traffic_ratio=_traffic(model))


def _traffic(model: LoadModel) -> float:
    load = float(model.load.sum())
    if model.traffic is None or load <= 0:
        return 0.0
    return 2.0 * model.traffic_load_ratio * float(sent_bps(model).sum()) / load
