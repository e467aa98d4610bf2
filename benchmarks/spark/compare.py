"""Vanilla Spark against StreamJob on the same job, resources and work, in one alternating run.

    python benchmarks/spark/compare.py [--rounds 2] [--cases hot-wait,uniform-cpu] [--out out/benchmarks]

Prints a row per case: batch duration p50 and p95 of each side, the ratio, throughput, and the distance from the
makespan bound plus a batch's fixed cost (measured in the same run on a job without work).
"""

from __future__ import annotations

import argparse
import json
import pathlib

import numpy as np
from runs import Case, batch_ms, run, stamp
from workload import SKEWS, Workload

SKIP = 35  # batches before measuring: warm-up of both sides, and the time that balancing takes to settle
MEASURED = 60
SLOTS = {"cpu": 2, "wait": 4}
TOTAL_MS = {"cpu": 2400.0, "wait": 8000.0}
PARTITIONS = 16


def case(skew: str, work: str, batches: int) -> Case:
    """The cell for a skew and a kind of work."""
    return Case(
        skew=skew,
        work=work,
        slots=SLOTS[work],
        partitions=PARTITIONS,
        total_ms=TOTAL_MS[work],
        batches=batches,
        batches_per_phase=20,
    )


def figures(durations_ms: np.ndarray) -> dict[str, float]:
    """p50, p95 and batches per second of one side."""
    return {
        "p50_ms": float(np.percentile(durations_ms, 50)),
        "p95_ms": float(np.percentile(durations_ms, 95)),
        "batches_per_s": float(1000.0 / durations_ms.mean()),
    }


def compare(one: Case, rounds: int, skip: int) -> dict[str, object]:
    """Alternate the two systems; figures over all measured batches of all rounds, and each round's ratio."""
    durations: dict[str, list[np.ndarray]] = {"vanilla": [], "streamjob": []}
    for _ in range(rounds):
        for system, kept in durations.items():
            kept.append(batch_ms(run(one, system), skip))
    ratios = [
        float(np.percentile(ours, 95) / np.percentile(theirs, 95))
        for ours, theirs in zip(durations["streamjob"], durations["vanilla"], strict=True)
    ]
    sides = {system: figures(np.concatenate(kept)) for system, kept in durations.items()}
    bound_ms = Workload(keys=(), group_ms=one.group_ms()).makespan_ms(one.slots)
    return {"case": f"{one.skew}-{one.work}", **sides, "p95_ratio_by_round": ratios, "makespan_bound_ms": bound_ms}


def main() -> None:
    """Parse, run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cases", default=",".join(f"{s}-{w}" for w in SLOTS for s in (*SKEWS[:-1], SKEWS[-1])))
    parser.add_argument("--skip", type=int, default=SKIP, help="batches before measuring")
    parser.add_argument("--measured", type=int, default=MEASURED, help="batches measured")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    rows = []
    print(f"{'case':16} {'vanilla p50/p95':>20} {'ours p50/p95 ms':>20} {'p95 ratio':>18} {'rate':>10} {'bound':>9}")
    for name in args.cases.split(","):
        skew, work = name.split("-")
        row = compare(case(skew, work, args.skip + args.measured), args.rounds, args.skip)
        rows.append(row)
        print_row(row)
        (args.out / "spark_compare.json").write_text(json.dumps({"at": stamp(), "rows": rows}, indent=1))


def print_row(row: dict[str, object]) -> None:
    """One line of the table."""
    theirs, ours = row["vanilla"], row["streamjob"]
    ratios = " ".join(f"{ratio:.2f}" for ratio in row["p95_ratio_by_round"])
    print(
        f"{row['case']:16} {theirs['p50_ms']:9.0f} /{theirs['p95_ms']:9.0f}"
        f" {ours['p50_ms']:9.0f} /{ours['p95_ms']:9.0f}"
        f" {ours['p95_ms'] / theirs['p95_ms']:6.2f} ({ratios}) {ours['batches_per_s'] / theirs['batches_per_s']:9.2f}x"
        f" {row['makespan_bound_ms']:9.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
