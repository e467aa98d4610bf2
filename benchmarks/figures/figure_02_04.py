"""Figures 2 to 4: load distance over load fluctuation, budget and solving time, against Flux (section 5.1).

Run with `python -m benchmarks.figures.figure_02_04`.
"""

from __future__ import annotations

import dataclasses
import time

import numpy as np
from benchmarks import worlds
from benchmarks.figures.report import Claim, Page, Panel, arguments, table
from benchmarks.kept import piece

from streamjob_planners import registry
from streamjob_planners.model import Budget, LoadModel, Plan, PlanParams
from streamjob_planners.verify import verify

SIZES = ((20, 400, 10), (40, 800, 20), (60, 1200, 30))
FIGURES = {20: 2, 40: 3, 60: 4}
BUDGETS = (10, 20, 30, 40)
VARIES = (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A planner of the registry with a deadline."""

    label: str
    planner: str
    deadline_s: float


QUICK = (
    Contender(label="search 0.1 s", planner="search", deadline_s=0.1),
    Contender(label="search 1 s", planner="search", deadline_s=1.0),
    Contender(label="greedy", planner="greedy", deadline_s=5.0),
    Contender(label="flux", planner="flux", deadline_s=5.0),
)


def solved(model: LoadModel, contender: Contender, budget: int) -> Plan:
    """One plan that the judge accepts; an exact plan is what is wanted, so nothing is left for tolerance."""
    params = PlanParams(budget=Budget(max_migrations=budget), tolerance=0.0, deadline_s=contender.deadline_s)
    plan = registry.get(contender.planner).solve(model, params, np.random.default_rng(0), time.monotonic)
    violations = verify(model, plan, params)
    if violations:
        raise RuntimeError(f"{contender.label}: {violations[0].sentence}")
    return plan


@piece
def reached(size: tuple[int, int, int], varies: float, budget: int, contender: Contender) -> tuple[float, float]:
    """The load distance of a plan, and its proven bound, points."""
    plan = solved(worlds.solver_world(*size, varies, 1).model(), contender, budget)
    return plan.after.load_distance, plan.lower_bound or 0.0


def main() -> None:
    """Prints a table for every size and budget, the paper's statement beside ours, and draws twelve panels."""
    quick = arguments(__doc__ or "").quick
    page = Page("figure_02_04")
    contenders = QUICK if not quick else (QUICK[0], QUICK[3])
    panels, ours, flux, gaps = [], [], [], []
    for nodes, groups, operators in SIZES[:1] if quick else SIZES:
        for budget in BUDGETS[1:2] if quick else BUDGETS:
            lines: dict[str, list[float]] = {one.label: [] for one in contenders}
            bounds: list[float] = []
            for varies in VARIES:
                size = (nodes, groups, operators)
                plans = {one.label: reached(size, varies, budget, one) for one in contenders}
                for label, (distance, _) in plans.items():
                    lines[label].append(distance)
                bounds.append(max(bound for _, bound in plans.values()))
                gaps.append(plans[contenders[0].label][0] - bounds[-1])
            print(f"\n{nodes} nodes, {groups} key groups, {budget} moves: load distance, points")
            rows = [[varies, *(lines[key][i] for key in lines), bounds[i]] for i, varies in enumerate(VARIES)]
            table(("varies", *lines, "bound"), rows)
            ours += lines[contenders[0].label]
            flux += lines["flux"]
            panels.append(
                Panel(
                    title=f"Figure {FIGURES[nodes]}: {nodes} nodes, {groups} groups, {budget} moves",
                    x_label="varies",
                    y_label="load distance, points",
                    x=VARIES,
                    lines={**lines, "proven bound": bounds},
                )
            )
    _claims(page, np.array(ours), np.array(flux), np.array(gaps), contenders[0].label)
    page.draw(panels, columns=min(4, len(panels)))


def _claims(page: Page, ours: np.ndarray, flux: np.ndarray, gaps: np.ndarray, label: str) -> None:
    page.claims(
        [
            Claim(
                paper="The MILP consistently outperforms Flux, even after a few seconds of solving.",
                ours=f"{label} is ahead of Flux in {int((ours < flux).sum())} of {ours.size} instances, behind in "
                f"{int((ours > flux + 1e-9).sum())}; mean {ours.mean():.2f} against {flux.mean():.2f} points.",
                holds=bool((ours <= flux + 1e-9).all()),
            ),
            Claim(
                paper="It quickly converges towards a pretty good solution.",
                ours=f"{label}: {gaps.mean():.3f} points above the proven bound on average, at most {gaps.max():.3f}.",
                holds=bool(gaps.mean() <= 0.05 and gaps.max() <= 0.25),
            ),
        ],
        "all sizes, budgets and fluctuations",
    )


if __name__ == "__main__":
    main()
