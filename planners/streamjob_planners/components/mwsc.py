"""MWSC (section 5.2, algorithm 2): enumerate candidate components, weigh each, choose some that hold every operator."""

from __future__ import annotations

import dataclasses
import enum

from streamjob_planners.components.candidates import enumerated, grown
from streamjob_planners.components.cost import Adaptation, faults, plan_cost
from streamjob_planners.components.cover import chosen_exactly, chosen_greedily, without_redundant
from streamjob_planners.components.graph import Members, OperatorGraph
from streamjob_planners.components.greedy import greedy_plan
from streamjob_planners.components.labels import least_communication


class Form(enum.StrEnum):
    """How candidates are chosen."""

    PARTITION = "partition"  # weights psi - phi, each operator once: equation (1) exactly
    PRINTED = "printed"  # weights psi + l - phi, each operator at least once (definition 3), redundant ones dropped
    GREEDY = "greedy"  # the printed weights and the greedy routine


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MwscParams:
    """What MWSC may take.

    Attributes:
        form: how candidates are chosen.
        largest: most operators of an enumerated component, 1 or more: the paper's k.
        most: most enumerated components; the size listed last is the largest for which they fit.
        exact_up_to: candidates up to which a solver chooses; the greedy routine where there are more.
        effort: deterministic time of each solve, about seconds.
        beta: the most that one component may move (section 4.2), in the unit of the streams.
        seed: chance of the solver.
    """

    form: Form = Form.PARTITION
    largest: int = 6
    most: int = 5_000
    exact_up_to: int = 50_000
    effort: float = 10.0
    beta: float = float("inf")
    seed: int = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MwscPlan:
    """Components, and how they were found: `proven` when no choice among the candidates has less weight."""

    components: list[Members]
    n_candidates: int
    size: int
    proven: bool


def mwsc_plan(graph: OperatorGraph, adaptation: Adaptation, params: MwscParams | None = None) -> MwscPlan:
    """A CBP plan. In the form PARTITION never dearer than Greedy's, whose components are among the candidates."""
    params = params or MwscParams()
    begins = [greedy_plan(graph, adaptation, params.beta), least_communication(graph, params.effort, params.seed)[0]]
    small, size = enumerated(graph, params.largest, params.most)
    candidates = list(dict.fromkeys([*small, *grown(graph), *begins[0], *begins[1]]))
    costs = [adaptation(one) for one in candidates]
    kept = [place for place, one in enumerate(candidates) if len(one) == 1 or costs[place] <= params.beta]
    candidates, costs = [candidates[place] for place in kept], [costs[place] for place in kept]
    form = params.form if len(candidates) <= params.exact_up_to else Form.GREEDY
    constant = 0.0 if form is Form.PARTITION else graph.total
    weights = [cost + constant - graph.inside(one) for one, cost in zip(candidates, costs, strict=True)]
    if form is Form.GREEDY:
        chosen, proven = chosen_greedily(graph.n_operators, candidates, weights), False
    else:
        chosen, proven = chosen_exactly(
            graph.n_operators,
            candidates,
            weights,
            _cheapest(graph, begins, adaptation, params.beta),
            disjoint=form is Form.PARTITION,
            effort=params.effort,
            seed=params.seed,
        )
    components = sorted(chosen, key=min) if form is Form.PARTITION else without_redundant(graph, chosen)
    return MwscPlan(components=components, n_candidates=len(candidates), size=size, proven=proven)


def _cheapest(graph: OperatorGraph, plans: list[list[Members]], adaptation: Adaptation, beta: float) -> list[Members]:
    """The first is one that keeps beta."""
    kept = [plan for plan in plans if plan is plans[0] or not faults(graph, plan, adaptation, beta)]
    return min(kept, key=lambda plan: plan_cost(graph, plan, adaptation).total)
