"""What a plan of components costs (equation 1), and whether it is one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

from streamjob_planners.components.graph import Members, OperatorGraph

Adaptation = Callable[[Members], float]
"""The paper's psi: state that one component moves over the time the streams were counted, in the streams' unit, >= 0.

With every adaptation it is asked for 1/f: a rarer adaptation gives another function (section 4.1, delta = 1/f).
"""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Equation (1): what crosses between components, and what adapting them moves; one unit for both."""

    communication: float
    adaptation: float

    @property
    def total(self) -> float:
        """The objective of MCCBP (definition 2)."""
        return self.communication + self.adaptation


def plan_cost(graph: OperatorGraph, plan: Iterable[Members], adaptation: Adaptation) -> Cost:
    """The cost of disjoint components."""
    components = list(plan)
    kept = sum(graph.inside(one) for one in components)
    return Cost(communication=max(0.0, graph.total - kept), adaptation=sum(adaptation(one) for one in components))


def faults(
    graph: OperatorGraph, plan: Sequence[Members], adaptation: Adaptation, beta: float = float("inf")
) -> list[str]:
    """Sentences about everything that keeps this from being a CBP plan (section 4.2); none when it is one.

    An operator that alone costs more than `beta` is no fault: nothing smaller exists.
    """
    said = []
    counts = [sum(one in members for members in plan) for one in range(graph.n_operators)]
    said += [f"operator {one} is in {count} components" for one, count in enumerate(counts) if count != 1]
    for members in plan:
        if not graph.is_component(members):
            said.append(f"{sorted(members)} is no component")
        elif len(members) > 1 and adaptation(members) > beta:
            said.append(f"{sorted(members)} moves {adaptation(members):g}, more than {beta:g}")
    return said
