"""Placing all operators anew: COR-GLB and its baselines (section 5.2.2, figure 5.6; section 6.2.2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamjob_planners.correlation.fill import fill
from streamjob_planners.correlation.improve import improve_all
from streamjob_planners.correlation.mapping import Mapping
from streamjob_planners.correlation.pairwise import balance_pairs, one_way
from streamjob_planners.correlation.scores import Score, by_correlation


def place_all(mapping: Mapping, score: Score, epsilon: float, stop: Callable[[], bool]) -> bool:
    """From empty nodes, least loaded first, then one round of one-way balancing; False where not all found room.

    RAND-GLB and LLF-GLB are this with their score.
    """
    operators = np.flatnonzero(mapping.movable)
    placed = fill(mapping, operators, np.flatnonzero(mapping.open_nodes), score, stop)
    if placed:
        balance_pairs(mapping, epsilon, one_way(score), stop)
    return placed


def cor_glb(mapping: Mapping, epsilon: float, theta: float, rounds: int | None, stop: Callable[[], bool]) -> bool:
    """COR-GLB: placed by correlation, then pairs below `theta` improved; False where not all found room."""
    placed = place_all(mapping, by_correlation, epsilon, stop)
    if placed:
        improve_all(mapping, theta, rounds, stop)
    return placed
