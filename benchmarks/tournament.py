"""All planners on the same jobs: batch time, moves, violations and planning time, and the best one for each kind.

    python -m benchmarks.tournament              # what is not measured yet, then the page
    python -m benchmarks.tournament --page       # the page alone, from benchmarks/limits/tournament.json

A piece is one planner on one kind of job; what it measured is kept at once, so that a run goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import functools
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tournament_jobs import JOBS, Job
from streamjob_planners import measures, registry
from streamjob_planners.model import Budget, Objective, PlanParams
from streamjob_planners.verify import verify

LIMITS, PAGE = Path("benchmarks/limits/tournament.json"), Path("docs/figures/tournament.md")
SEEDS, ROUNDS, DEADLINE_S = (1, 2, 3), 6, 0.1
AS_GOOD = 0.01
"""Of two mean batches within one percent, the one with fewer moves is the better."""
HEAD = """# The tournament: which planner for which job

All planners of the registry, the same jobs (`benchmarks/tournament_jobs.py`), the same judge, which knows no planner:
ten executors, 200 key groups at random places, 40 batches seen, up to 20 moves a round, six rounds of {deadline} s,
{seeds} seeds; recorded jobs have the size that is said. A figure is the mean batch of the batches that follow over one
with all executors level and all traffic local (1.00 is out of reach where loads vary), with its 95th percentile, and
the moves of all rounds. Deadlines are CPU seconds of the planner's process, so that a busy machine changes little.
`python -m benchmarks.tournament` measures what is missing and writes this page from
`benchmarks/limits/tournament.json`.

Best is the shortest batch, with the fewest moves of those within a percent. `auto` follows it but where the moves would
not pay within ten batches: with swinging loads `clb` makes three times the moves of `search` for two percent
([decision 0065](../decisions/0065-swings.md)).

"""


def measured(kind: str, name: str) -> dict[str, float]:
    """One piece: means over the seeds."""
    runs = [run(JOBS[kind](seed), name, seed) for seed in SEEDS]
    return {figure: float(np.mean([run[figure] for run in runs])) for figure in runs[0]}


def run(job: Job, name: str, seed: int) -> dict[str, float]:
    """ROUNDS plans of one planner, each carried out, and what came of it."""
    planner = registry.get(name)
    before, moves, violations, spent_s = float(job.stretch().mean()), 0, 0, []
    # 20 moves a round: a tenth of the key groups of made-up jobs; recorded ones have fewer.
    params = PlanParams(budget=Budget(max_migrations=20), deadline_s=DEADLINE_S, objective=Objective.BATCH_TIME)
    for number in range(ROUNDS):
        began_s = time.process_time()
        plan = planner.solve(job.model, params, np.random.default_rng((seed, number)), time.process_time)
        spent_s.append(time.process_time() - began_s)
        violations += len(verify(job.model, plan, params))
        moves += len(plan.moves)
        job = job.at(plan.node_of)
    after = job.stretch()
    return {
        "before": before,
        "mean": float(after.mean()),
        "p95": float(np.percentile(after, 95)),
        "moves": float(moves),
        "violations": float(violations),
        "local_pct": measures.collocation_factor(job.model, job.model.node_of) or 0.0,
        "plan_cpu_s": float(np.mean(spent_s)),
        "on_marked": float(job.model.marked[job.model.node_of].sum()),
    }


def best(rows: dict[str, dict[str, float]]) -> str:
    """The planner with the shortest batches; of those within AS_GOOD of it the one with the fewest moves."""
    rows = {name: row for name, row in rows.items() if row["violations"] == 0}
    empty = min(row["on_marked"] for row in rows.values())
    rows = {name: row for name, row in rows.items() if row["on_marked"] == empty}
    least = min(row["mean"] for row in rows.values())
    near = {name: row for name, row in rows.items() if row["mean"] <= least * (1 + AS_GOOD)}
    return min(near, key=lambda name: (round(near[name]["moves"]), near[name]["mean"], name))


def page(found: dict[str, dict[str, dict[str, float]]]) -> str:
    """The page."""
    kinds = [kind for kind in JOBS if kind in found]
    text = HEAD.format(deadline=DEADLINE_S, seeds=len(SEEDS))
    text += "| kind of job | what it is | before | best | search |\n|---|---|---|---|---|\n"
    for kind in kinds:
        rows = found[kind]
        name = best(rows)
        what = _about(kind)
        before = rows["search"]["before"]
        text += f"| {kind} | {what} | {before:.2f} | **{name}** {_cell(rows[name])} | {_cell(rows['search'])} |\n"
    text += f"\nMean batch, 95th percentile, moves:\n\n| planner | {' | '.join(kinds)} | CPU s a plan | violations |\n"
    text += "|---" * (len(kinds) + 3) + "|\n"
    for name in registry.names():
        rows = [found[kind][name] for kind in kinds if name in found[kind]]
        cpu, broken = np.mean([row["plan_cpu_s"] for row in rows]), sum(row["violations"] for row in rows)
        cells = " | ".join(_cell(found[kind][name]) if name in found[kind] else "-" for kind in kinds)
        text += f"| {name} | {cells} | {cpu:.2f} | {broken:.0f} |\n"
    return text


def _about(kind: str) -> str:
    job = JOBS[kind]
    if not isinstance(job, functools.partial):
        return (job.__doc__ or "").split("\n")[0].strip()
    first, (name,) = job(SEEDS[0]), job.args
    size = f"{first.model.n_groups} key groups on {first.model.n_nodes} executors"
    return f"`{name}` on real Spark, {size}: {len(first.after)} batches after as many that were seen."


def _cell(row: dict[str, float]) -> str:
    left = f", {row['on_marked']:.0f} left on marked" if row["on_marked"] else ""
    return f"{row['mean']:.2f}, {row['p95']:.2f}, {row['moves']:.0f}{left}"


def _kept() -> dict[str, Any]:
    return json.loads(LIMITS.read_text(encoding="utf-8")) if LIMITS.exists() else {}


def main() -> None:
    """Measure what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the page from what is measured")
    parser.add_argument("--planner", choices=registry.names(), help="measure this one anew")
    parser.add_argument("--seconds", type=float, default=400.0, help="begin no further piece after so long")
    given = parser.parse_args()
    began_s, found = time.monotonic(), _kept()
    for kind in () if given.page else JOBS:
        for name in registry.names():
            known = name in found.get(kind, {}) and name != given.planner
            if known or time.monotonic() - began_s > given.seconds:
                continue
            found.setdefault(kind, {})[name] = measured(kind, name)
            LIMITS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
            print(f"{kind}, {name}: {_cell(found[kind][name])}", flush=True)
    PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
