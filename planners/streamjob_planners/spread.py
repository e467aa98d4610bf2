"""How a placement holds over time: the spread of the nodes' loads in every window, not only of their means.

Groups that swing against each other even out on a shared executor; groups that swing together peak at once. The mean
loads of a statistics period show neither (stateful load balancing, sections 2.2 and 4).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.model import FloatArray, IntArray, LoadModel


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Percent points of utilisation.

    Attributes:
        imbalance: sum over windows of the variance of the nodes' utilisation, the paper's h-bar; points squared.
        rms: root of the mean of those variances: how far a node is from the mean of its window, typically.
        peak: the largest distance of a node above the mean of its window.
        swing: standard deviation of each node's utilisation over the windows, (n_nodes,).
    """

    imbalance: float
    rms: float
    peak: float
    swing: FloatArray


def spread(model: LoadModel, node_of: IntArray) -> Spread | None:
    """The spread of a placement over `model.load_series`; None where nobody kept one, or it is empty.

    `node_of`: (n_groups,), indices of nodes. Nodes count by their capacity; marked ones do not count.
    """
    series = model.load_series
    if series is None or series.shape[0] == 0:
        return None
    stays = ~model.marked
    used = windows(series, node_of, model.n_nodes) / model.capacity
    apart = used[:, stays] - (series.sum(axis=1) / model.capacity[stays].sum())[:, None]
    variance = (apart**2 * model.capacity[stays]).sum(axis=1) / model.capacity[stays].sum()
    return Spread(
        imbalance=float(variance.sum()),
        rms=float(np.sqrt(variance.mean())),
        peak=float(apart.max()),
        swing=np.asarray(used.std(axis=0), dtype=np.float64),
    )


def windows(series: FloatArray, node_of: IntArray, n_nodes: int) -> FloatArray:
    """Load of each node in each window, (n_windows, n_nodes); `series` is (n_windows, n_groups)."""
    member = np.zeros((node_of.size, n_nodes))
    member[np.arange(node_of.size), node_of] = 1.0
    total: FloatArray = series @ member
    return total
