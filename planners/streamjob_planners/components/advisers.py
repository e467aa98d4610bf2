"""Components for the adviser, by MWSC or by Greedy; moving state costs nothing here."""

from __future__ import annotations

from streamjob_planners.components.graph import Members, OperatorGraph
from streamjob_planners.components.greedy import greedy_plan
from streamjob_planners.components.mwsc import mwsc_plan


def by_cover(graph: OperatorGraph) -> list[Members]:
    """MWSC in the form that partitions (section 5.2)."""
    return mwsc_plan(graph, lambda _: 0.0).components


def by_moves(graph: OperatorGraph) -> list[Members]:
    """Greedy (section 5.1)."""
    return greedy_plan(graph, lambda _: 0.0)
