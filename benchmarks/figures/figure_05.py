"""Figure 5: scale-in of ten of sixty nodes with one or five overloaded ones, integrated or not (section 5.1).

Run with `python -m benchmarks.figures.figure_05`.
"""

from __future__ import annotations

import numpy as np
from benchmarks import worlds
from benchmarks.figures.report import Claim, Page, Panel, arguments, table
from benchmarks.kept import piece
from benchmarks.rounds import Rounds, Run, run_rounds

from streamjob_planners import registry
from streamjob_planners.model import Budget, PlanParams

ROUNDS = 15
PLANNERS = ("albic", "search", "flux", "non-integrated")
MOST_ROUNDS = {1: 11, 5: 12}


def scaled_in(planner: str, overloaded: int, seed: int) -> Run:
    """Fifteen rounds of twenty moves."""
    params = PlanParams(budget=Budget(max_migrations=20), deadline_s=0.5)
    return run_rounds(worlds.scale_in_world(overloaded, seed), registry.get(planner), params, ROUNDS)


@piece
def _figures(planner: str, overloaded: int, seed: int) -> Rounds:
    return scaled_in(planner, overloaded, seed).figures()


def rounds_to_empty(run: Rounds) -> int:
    """The round after which no key group is on a marked node; one more than there were rounds if never."""
    left = run.series("marked_groups")
    return next((number for number, groups in enumerate(left, 1) if groups == 0), ROUNDS + 1)


def main() -> None:
    """Prints load distances round by round and the time to scale in, and draws both."""
    quick = arguments(__doc__ or "").quick
    page = Page("figure_05")
    panels: list[Panel] = []
    for overloaded in (1, 5):
        for seed in (1,) if quick else (1, 2, 3):
            runs = {planner: _figures(planner, overloaded, seed) for planner in PLANNERS}
            print(f"\n{overloaded} overloaded, world {seed}: load distance after each round, then rounds until empty")
            table(
                ("planner", *(str(i) for i in range(1, ROUNDS + 1)), "empty"),
                [[name, *run.series("load_distance"), rounds_to_empty(run)] for name, run in runs.items()],
            )
            _claims(page, runs, overloaded, seed)
            if seed == 1:
                panels += _panels(runs, overloaded)
    page.draw(panels, columns=2)


def _claims(page: Page, runs: dict[str, Rounds], overloaded: int, seed: int) -> None:
    ours, apart = runs["albic"], runs["non-integrated"]
    distance = np.array(ours.series("load_distance"))
    never_above = bool((distance <= np.array(apart.series("load_distance")) + 1e-9).all())
    page.claims(
        [
            Claim(
                paper="The integrated approach obtains a good load distance much faster.",
                ours=f"After round 1: {distance[0]:.1f} against {apart.rounds[0].load_distance:.1f} points; "
                f"at the end {distance[-1]:.2f}; never above the other way: {never_above}.",
                holds=never_above and bool(distance[-1] <= 1.2),
            ),
            Claim(
                paper="It completes scaling in within a similar time period.",
                ours=f"Empty after {rounds_to_empty(ours)} rounds, the other way after {rounds_to_empty(apart)}.",
                holds=rounds_to_empty(ours) <= MOST_ROUNDS[overloaded],
            ),
        ],
        f"{overloaded} overloaded, world {seed}",
    )


def _panels(runs: dict[str, Rounds], overloaded: int) -> list[Panel]:
    return [
        Panel(
            title=f"Figure 5a: load distance, {overloaded} overloaded",
            x_label="round",
            y_label="points",
            lines={name: run.series("load_distance") for name, run in runs.items()},
        ),
        Panel(
            title=f"Figure 5b: scaling in, {overloaded} overloaded",
            x_label="round",
            y_label="key groups on marked nodes",
            lines={name: run.series("marked_groups") for name, run in runs.items()},
        ),
    ]


if __name__ == "__main__":
    main()
