"""Family by family: distances of `search` and of the reference at each deadline, best known ones and proven bounds.

python -m benchmarks.families_table                      # seed 11, 0.1 and 1 s
python -m benchmarks.families_table --seed 31 --only marked
python -m benchmarks.families_table --cpu                # CPU time, for a machine that others use: about the same
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.clocks import clock_of
from benchmarks.families import Family, drawn, families
from benchmarks.families_reference import reference, stretch
from benchmarks.planners_pieces import family_reached, known_families, label_of
from streamjob_planners import bound
from streamjob_planners.model import PlanParams

DEADLINES_S = (0.1, 1.0)
PAGE = Path("docs/benchmarks-planners.md")
BEGIN, END = "<!-- families -->", "<!-- end of families -->"


def row(family: Family, seed: int, deadlines_s: Sequence[float], *, beside: bool, cpu: bool) -> list[float]:
    """Bound, best known, and at each deadline ours and, `beside` it, the reference's; percent points.

    `cpu`: each thread of ours has the deadline as CPU time; the reference goes by the clock.
    """
    clock, faster = clock_of(cpu=cpu)
    model, budget = drawn(family, seed)
    best = known_families().get(label_of(family, seed), float("inf"))
    found = [bound.lower_bound(model, PlanParams(budget=budget)), best]
    for deadline_s in deadlines_s:
        found.append(family_reached(model, budget, faster * deadline_s, seed, clock)[0])
        if beside:
            found.append(stretch(model, reference(model, budget, deadline_s, seed)))
    return found


def main() -> None:
    """Measure and print; publish what was asked for."""
    arguments = _arguments()
    deadlines_s = arguments.deadline or list(DEADLINES_S)
    lines = _head(deadlines_s, beside=arguments.beside)
    print("\n".join(lines))
    for family in families():
        if arguments.only in family.name:
            cells = row(family, arguments.seed, deadlines_s, beside=arguments.beside, cpu=arguments.cpu)
            lines.append(f"| {family.name} | {' | '.join(f'{cell:.4f}' for cell in cells)} |")
            print(lines[-1], flush=True)
    if arguments.publish:
        publish(lines)


def _head(deadlines_s: Sequence[float], *, beside: bool) -> list[str]:
    names = ["family", "bound", "best known"]
    for deadline_s in deadlines_s:
        names += [f"{deadline_s:g} s", *([f"reference, {deadline_s:g} s"] if beside else [])]
    return [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]


def publish(lines: list[str]) -> None:
    """The table between its marks in the documentation."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    table = "\n".join(lines)
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--deadline", action="append", type=float, help="seconds; default: 0.1 and 1")
    parser.add_argument("--only", default="", help="families with this in their name")
    parser.add_argument("--beside", action="store_true", help="the reference too")
    parser.add_argument("--cpu", action="store_true", help="deadlines in CPU time of each thread")
    parser.add_argument("--publish", action="store_true", help=f"write the table into {PAGE}")
    return parser.parse_args()


if __name__ == "__main__":
    main()
