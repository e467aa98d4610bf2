"""Section 5.2, figures 6 to 9: load distance of real job 1 against Flux and PoTC, and against the budget.

Run with `python -m benchmarks.figures.section_5_2`.
"""

from __future__ import annotations

import numpy as np
from benchmarks import jobs, worlds
from benchmarks.figures.report import Claim, Page, Panel, arguments, table
from benchmarks.kept import piece
from benchmarks.rounds import Rounds, run_rounds

from streamjob_planners import registry
from streamjob_planners.baselines.potc import draw_choices, routed_load
from streamjob_planners.model import Budget, PlanParams

FLUCTUATION = 0.1
"""Log-normal step of each key group's load per period; the paper's data are not here."""
MERGE_RATIO = 0.1
"""Mean load of merging a key group's two halves, as a part of the group's load; it varies by a half each period."""
WARM_UP = 3
"""Periods that are not counted: the paper leaves out the start as well."""
BUDGETS: tuple[int | None, ...] = (10, 13, 20, 40, None)


@piece
def balanced(planner: str, budget: int | None, periods: int) -> Rounds:
    """Periods of real job 1, loads drifting before each; the same drift for everyone."""
    params = PlanParams(budget=Budget(max_migrations=budget), tolerance=0.0, deadline_s=0.3)
    return run_rounds(
        jobs.wikipedia_job(1),
        registry.get(planner),
        params,
        periods,
        lambda now, number: jobs.fluctuated(now, np.random.default_rng(number), FLUCTUATION),
    ).figures()


def two_choices(periods: int) -> list[float]:
    """Load distance of PoTC in each period, points."""
    world, rng = jobs.wikipedia_job(1), np.random.default_rng(0)
    choices = draw_choices(world.base_load.size, world.n_nodes, rng)
    distances = []
    for number in range(periods):
        world = jobs.fluctuated(world, np.random.default_rng(number), FLUCTUATION)
        merge = MERGE_RATIO * world.base_load * rng.uniform(0.5, 1.5, world.base_load.size)
        loads = routed_load(choices, world.base_load, merge, world.n_nodes, rng)
        distances.append(float(np.abs(loads - loads.mean()).max()))
    return distances


def main() -> None:
    """Prints and draws the comparison, then quality and overhead over the budget."""
    periods = 15 if arguments(__doc__ or "").quick else 60
    page = Page("section_5_2")
    runs = {name: balanced(name, 13, periods) for name in ("search", "flux")}
    lines = {name: run.series("load_distance") for name, run in runs.items()} | {"PoTC": two_choices(periods)}
    counted = {name: np.array(values[WARM_UP:]) for name, values in lines.items()}
    print("Load distance after each period's moves, 13 moves a period, points")
    table(("", "mean", "max"), [[name, float(v.mean()), float(v.max())] for name, v in counted.items()])
    budgets = {budget: balanced("search", budget, periods) for budget in BUDGETS}
    rows = [_budget_row(budget, run) for budget, run in budgets.items()]
    print("\nQuality and overhead over the budget (search)")
    table(("moves", "mean d", "max d", "moves made", "pause s"), rows)
    _claims(page, counted, rows)
    names = ["none" if budget is None else str(budget) for budget in BUDGETS]
    page.draw(
        [
            Panel(title="Figure 6: quality, 13 moves", x_label="period", y_label="load distance, points", lines=lines),
            Panel(
                title="Figure 8: quality over the budget",
                x_label="period",
                y_label="load distance, points",
                lines={n: r.series("load_distance") for n, r in zip(names, budgets.values(), strict=True)},
                log_y=True,
            ),
            Panel(
                title="Figure 9: overhead over the budget",
                x_label="period",
                y_label="sum of pauses, s",
                lines={n: _pauses(r) for n, r in zip(names, budgets.values(), strict=True)},
            ),
        ],
        columns=3,
    )


def _pauses(run: Rounds) -> list[float]:
    return [moves * worlds.PAUSE_S for moves in run.series("migrations")]


def _budget_row(budget: int | None, run: Rounds) -> list[object]:
    counted = np.array(run.series("load_distance")[WARM_UP:])
    moves = float(np.mean(run.series("migrations")[WARM_UP:]))
    return ["none" if budget is None else budget, float(counted.mean()), float(counted.max()), moves, moves * 2.5]


def _claims(page: Page, counted: dict[str, np.ndarray], rows: list[list[object]]) -> None:
    ours, flux, potc = counted["search"], counted["flux"], counted["PoTC"]
    page.claims(
        [
            Claim(
                paper="The MILP stays consistently below 1 %, Flux fluctuates up to 7 %.",
                ours=f"search at most {ours.max():.2f} points, Flux at most {flux.max():.2f}.",
                holds=bool(ours.max() < 1.0 and flux.max() > ours.max()),
            ),
            Claim(
                paper="PoTC cannot achieve a consistently good load distance, because merging is not balanced.",
                ours=f"PoTC between {potc.min():.2f} and {potc.max():.2f} points.",
                holds=bool(potc.min() > ours.max()),
            ),
            Claim(
                paper="Without a limit the balance is best and the pause very large.",
                ours=f"No limit: mean {rows[-1][1]:.3f} points and {rows[-1][4]:.0f} s of pauses a period; "
                f"13 moves: {rows[1][1]:.3f} points and {rows[1][4]:.0f} s.",
                holds=bool(float(str(rows[-1][1])) <= min(float(str(row[1])) for row in rows) + 0.01),
            ),
        ],
        "real job 1",
    )


if __name__ == "__main__":
    main()
