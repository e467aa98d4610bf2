"""Figures 12 to 14: real jobs 2, 3 and 4 under ALBIC and COLA (section 5.4), simulated.

Run with `python -m benchmarks.figures.figure_12_14`.
"""

from __future__ import annotations

import numpy as np
from benchmarks import jobs, worlds
from benchmarks.figures.report import Claim, Page, Panel, arguments, table
from benchmarks.kept import piece
from benchmarks.rounds import Rounds, run_rounds

from streamjob_planners import registry
from streamjob_planners.model import Budget, PlanParams

FLUCTUATION = 0.02
"""Log-normal step of each key group's work per period."""
PERIOD_S = 300.0
"""The paper's example of a statistics period: five minutes."""
PERIODS = {2: 30, 3: 40, 4: 130}
PAPER = {
    2: "ALBIC reaches COLA's collocation, load index 50 %, 10 moves a period; COLA 75 % with close to 200.",
    3: "The collocation factor is only half of that of job 2, because RouteDelay cannot be collocated.",
    4: "ALBIC gradually achieves a collocation similar to COLA's 61 % and keeps a low load distance.",
}


@piece
def run_job(number: int, planner: str, periods: int) -> Rounds:
    """Ten moves a period for ALBIC in both forms; COLA plans from scratch, without a budget, for ten periods."""
    cola = planner == "cola"
    params = PlanParams(budget=Budget(max_migrations=None if cola else 10), deadline_s=30.0 if cola else 0.5)
    return run_rounds(
        jobs.airline_job(number, 1),
        registry.get(planner),
        params,
        min(periods, 10) if cola else periods,
        lambda now, period: jobs.fluctuated(now, np.random.default_rng(period), FLUCTUATION),
    ).figures()


def with_migrations(run: Rounds, start_load: float) -> list[float]:
    """Load index with the work of moving state: each pause keeps one core busy at both ends."""
    points = 2.0 * worlds.PAUSE_S / PERIOD_S * 100.0
    return [one.load_index + 100.0 * one.migrations * points / start_load for one in run.rounds]


def main() -> None:
    """Prints start, middle and end of every job and planner, and draws the four figures of each job."""
    quick = arguments(__doc__ or "").quick
    page = Page("figure_12_14")
    panels: list[Panel] = []
    for number in (2,) if quick else (2, 3, 4):
        start = float(jobs.airline_job(number, 1).load().sum())
        runs = {name: run_job(number, name, PERIODS[number]) for name in ("albic", "albic-paper", "cola")}
        index = {name: with_migrations(run, start) for name, run in runs.items()}
        print(f"\nReal job {number}, {PERIODS[number]} periods: the last period, and means of load distance and moves")
        table(
            ("", "collocation %", "load index %", "mean d", "max d", "moves"),
            [[name, *_row(run, index[name])] for name, run in runs.items()],
        )
        _claims(page, number, runs, index)
        panels += _panels(number, runs, index)
    page.draw(panels, columns=4)


def _row(run: Rounds, index: list[float]) -> list[float]:
    distance = run.series("load_distance")
    moves = float(np.mean(run.series("migrations")))
    return [run.rounds[-1].collocation_pct, index[-1], float(np.mean(distance)), max(distance), moves]


def _claims(page: Page, number: int, runs: dict[str, Rounds], index: dict[str, list[float]]) -> None:
    albic, cola = runs["albic"], runs["cola"]
    most, many = max(albic.series("migrations")), float(np.mean(cola.series("migrations")))
    reached, theirs = albic.rounds[-1].collocation_pct, cola.rounds[-1].collocation_pct
    apart = [float(np.mean(run.series("load_distance"))) for run in (albic, cola)]
    page.claims(
        [
            Claim(
                paper=PAPER[number],
                ours=f"ALBIC {reached:.1f} % and load index {index['albic'][-1]:.0f} % with at most {most:.0f} moves a "
                f"period; COLA {theirs:.1f} % and {index['cola'][-1]:.0f} % with {many:.0f} moves.",
                holds=reached >= theirs - 1.0 and most <= 10,
            ),
            Claim(
                paper="ALBIC consistently achieves a lower load distance than COLA.",
                ours=f"mean {apart[0]:.2f} against {apart[1]:.2f}.",
                holds=apart[0] < apart[1],
            ),
        ],
        f"real job {number}",
    )


def _panels(number: int, runs: dict[str, Rounds], index: dict[str, list[float]]) -> list[Panel]:
    figure = f"Figure {10 + number}: job {number}"
    return [
        Panel(
            title=f"{figure}, collocation factor",
            x_label="period",
            y_label="percent",
            lines={name: run.series("collocation_pct") for name, run in runs.items()},
        ),
        Panel(
            title=f"{figure}, load distance",
            x_label="period",
            y_label="points",
            lines={name: run.series("load_distance") for name, run in runs.items()},
        ),
        Panel(title=f"{figure}, load index", x_label="period", y_label="percent of the first load", lines=index),
        Panel(
            title=f"{figure}, moves",
            x_label="period",
            y_label="key groups",
            lines={name: run.series("migrations") for name, run in runs.items()},
        ),
    ]


if __name__ == "__main__":
    main()
