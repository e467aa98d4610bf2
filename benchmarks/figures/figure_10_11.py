"""Figures 10 and 11: collocation and load distance of ALBIC and COLA (section 5.3).

Run with `python -m benchmarks.figures.figure_10_11`.
"""

from __future__ import annotations

import numpy as np
from benchmarks import worlds
from benchmarks.figures.report import Claim, Page, Panel, arguments, table
from benchmarks.kept import piece
from benchmarks.rounds import Rounds, run_rounds

from streamjob_planners import registry
from streamjob_planners.model import Budget, PlanParams

SIZES = ((20, 400, 10), (40, 800, 20), (60, 1200, 30))


@piece
def settled(planner: str, size: tuple[int, int, int, float], chain: bool, rounds: int) -> Rounds:
    """Rounds of section 5.3: a fifth of the nodes drifts before each. COLA has no budget and plans three times."""
    cola = planner == "cola"
    budget = Budget() if cola else Budget(max_migrations=20)
    params = PlanParams(budget=budget, deadline_s=30.0 if cola else 0.3)
    return run_rounds(
        worlds.collocation_world(*size, 1, chain=chain),
        registry.get(planner),
        params,
        3 if cola else rounds,
        lambda now, number: worlds.drift(now, np.random.default_rng(number)),
    ).figures()


def compared(sizes: list[tuple[int, int, int, float]], chain: bool, rounds: int) -> list[list[object]]:
    """One row per world: nodes, x, then collocation, load distance and moves a round of each planner."""
    rows: list[list[object]] = []
    for nodes, groups, operators, one_to_one in sizes:
        row: list[object] = [nodes, one_to_one]
        for planner in ("albic", "cola"):
            run = settled(planner, (nodes, groups, operators, one_to_one), chain, rounds)
            row += [
                run.rounds[-1].collocation_pct,
                run.rounds[-1].load_distance,
                float(np.mean(run.series("migrations"))),
            ]
        rows.append(row)
    return rows


HEADER = ("nodes", "x %", "ALBIC %", "ALBIC d", "moves", "COLA %", "COLA d", "moves")


def _panels(title: str, x_label: str, x: list[float], rows: list[list[object]]) -> list[Panel]:
    column = [[float(str(row[i])) for row in rows] for i in range(8)]
    return [
        Panel(
            title=f"{title}, collocation",
            x_label=x_label,
            y_label="percent of traffic",
            x=x,
            lines={"ALBIC": column[2], "COLA": column[5]},
        ),
        Panel(
            title=f"{title}, load distance",
            x_label=x_label,
            y_label="points",
            x=x,
            lines={"ALBIC": column[3], "COLA": column[6]},
        ),
    ]


def _claims(rows: list[list[object]]) -> list[Claim]:
    lead = [float(str(row[2])) - float(str(row[5])) for row in rows]
    distance = [float(str(row[3])) - float(str(row[6])) for row in rows]
    moves = float(np.mean([float(str(row[7])) for row in rows]))
    return [
        Claim(
            paper="ALBIC outperforms COLA in collocation by up to ten percent.",
            ours=f"ALBIC minus COLA {min(lead):+.1f} to {max(lead):+.1f} points; COLA makes {moves:.0f} moves a round.",
            holds=min(lead) >= -1.0,
        ),
        Claim(
            paper="ALBIC achieves a smaller load distance than COLA.",
            ours=f"ALBIC minus COLA: {min(distance):+.1f} to {max(distance):+.1f} points.",
            holds=max(distance) <= 0.0,
        ),
    ]


def main() -> None:
    """Prints both figures for both readings of the topology and draws them."""
    quick = arguments(__doc__ or "").quick
    page = Page("figure_10_11")
    rounds, panels = (40, []) if quick else (60, [])
    for chain in (False, True):
        shape = "chain" if chain else "pairs"
        shares = [0.0, 50.0, 100.0] if quick else [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
        print(f"\nFigure 10, {shape}: 40 nodes, 800 key groups, 20 moves a round, {rounds} rounds")
        rows = compared([(40, 800, 20, share) for share in shares], chain, rounds)
        table(HEADER, rows)
        page.claims(_claims(rows), f"figure 10, {shape}")
        panels += _panels(f"Figure 10: {shape}", "one-to-one key groups, percent", shares, rows)
        print(f"\nFigure 11, {shape}: x = 50")
        rows = compared([(*size, 50.0) for size in (SIZES[:2] if quick else SIZES)], chain, rounds)
        table(HEADER, rows)
        page.claims(_claims(rows), f"figure 11, {shape}")
        panels += _panels(f"Figure 11: {shape}", "nodes", [float(str(row[0])) for row in rows], rows)
    page.draw(panels, columns=4)


if __name__ == "__main__":
    main()
