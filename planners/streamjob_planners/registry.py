"""Planners by name. A new planner is one module (or package), one line here, and its words in `catalogue.planners`.

The contract suite then runs it.
"""

from __future__ import annotations

from typing import cast

from streamjob_planners.by_name import ByName
from streamjob_planners.model import Planner

_PLANNERS = ByName(
    word="planner",
    places={
        "auto": "streamjob_planners.auto.planner:AutoPlanner",
        "hold": "streamjob_planners.hold:HoldPlanner",
        "greedy": "streamjob_planners.greedy:GreedyPlanner",
        "milp": "streamjob_planners.milp:MilpPlanner",
        "milp-paper": "streamjob_planners.milp_paper:MilpPaperPlanner",
        "search": "streamjob_planners.search:SearchPlanner",
        "albic": "streamjob_planners.albic.improved.planner:AlbicPlanner",
        "albic-paper": "streamjob_planners.albic.algorithm_2:AlbicPaperPlanner",
        "albic-paper-milp": "streamjob_planners.albic.algorithm_2:AlbicPaperMilpPlanner",
        "elb": "streamjob_planners.elb.planner:ElbPlanner",
        "clb": "streamjob_planners.clb.planner:ClbPlanner",
        "flux": "streamjob_planners.baselines.flux:FluxPlanner",
        "cola": "streamjob_planners.baselines.cola:ColaPlanner",
        "cor-glb": "streamjob_planners.correlation.planner:global_planner",
        "cor-bal": "streamjob_planners.correlation.planner:one_way_planner",
        "cor-re": "streamjob_planners.correlation.planner:redistribution_planner",
        "cor-se": "streamjob_planners.correlation.planner:exchange_planner",
        "non-integrated": "streamjob_planners.baselines.non_integrated:NonIntegratedPlanner",
    },
)

DEFAULT = "search"


def names() -> tuple[str, ...]:
    """Every planner there is, in alphabetical order."""
    return _PLANNERS.names()


def get(name: str, *settings: object) -> Planner:
    """A new planner of that name, its solver loaded (so that loading is not on the clock of the first plan).

    `settings` is what its constructor takes by place, if anything. Raises ValueError with the names that exist.
    """
    return cast(Planner, _PLANNERS.load(name)(*settings))
