"""Vanilla Spark against StreamJob on the same job, resources and work, in alternating runs.

    python benchmarks/spark/compare.py [--cases hot-wait,none-wait] [--rounds 3] [--seconds 290] [--out out/benchmarks]
    python benchmarks/spark/compare.py --report [--out out/benchmarks] [--picture out/compare.png]

Each finished run is appended to OUT/spark_compare.jsonl, so that a call goes on where the last one stopped: the first
rounds of all cases come before the second ones. `--seconds` bounds what one call does. The report is read
from that file.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import signal
import sys
import time
from collections.abc import Iterator

from cases import NAMES, Case, make_case
from picture import draw
from predictions import began_at_s
from runs import PLANNERS, SYSTEMS, batch_ms, run, stamp
from table import RUNS, print_report, read_runs, rows_of

START_S = 20.0  # what a run takes beside its batches
FIXED_S = 1.0  # of a batch
VANILLA_S, OURS_S = 2.6, 1.9  # of each stateful stage with work


def usual_batch_s(case: Case, system: str) -> float:
    """What a batch takes, about."""
    stage_s = VANILLA_S if system == "vanilla" else OURS_S
    return FIXED_S + stage_s * sum(level != "none" for level in case.levels)


def missing(
    cases: list[str], systems: list[str], rounds: int, done: list[dict[str, object]]
) -> Iterator[tuple[str, str, int]]:
    """(case, system, round) still to run; the two sides take turns at going first."""
    have = {(one["case"], one["system"], one["round"]) for one in done}
    for turn in range(rounds):
        for name in cases:
            for system in systems if turn % 2 == 0 else systems[::-1]:
                if (name, system, turn) not in have:
                    yield name, system, turn


def one_run(name: str, system: str, turn: int, args: argparse.Namespace) -> dict[str, object]:
    """Run a side of a case; its record."""
    case = make_case(name, args.loops_per_ms)
    ran = run(case, system, keep=args.keep and args.keep / f"{name}-{system}-{turn}")
    return {
        "case": name,
        "system": system,
        "round": turn,
        "at": stamp(),
        "skip": case.skip,
        "phase": case.batches_per_phase,
        "durations_ms": batch_ms(ran.progress, 0).tolist(),
        "makespan_ms": [case.workload().bound_ms(case.executors, case.cores, at) for at in range(case.batches)],
        "warm_at_s": began_at_s(ran.progress[case.skip]),
        "began_at_s": [began_at_s(one) for one in ran.progress],
        "windows": ran.windows,
        "singles": ran.singles,
        "placed_over_bound": [(one.at_s, one.over_bound) for one in ran.placed],
        "placed_with_own": [(one.at_s, one.over_bound_with_own) for one in ran.placed],
        "cycles": ran.cycles,
    }


def run_missing(path: pathlib.Path, args: argparse.Namespace) -> None:
    """Run and record what is missing, as much as the arguments allow."""
    until_s = time.monotonic() + args.seconds
    for name, system, turn in missing(args.cases.split(","), args.systems.split(","), args.rounds, read_runs(path)):
        usual_s = START_S + usual_batch_s(make_case(name), system) * make_case(name).batches
        if time.monotonic() + usual_s > until_s:
            continue  # a shorter one may fit
        record = one_run(name, system, turn, args)
        with path.open("a") as file:
            file.write(json.dumps(record) + "\n")


def main() -> None:
    """Run what is missing, or report what there is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=",".join(NAMES))
    parser.add_argument("--systems", default=",".join(SYSTEMS), help=f"vanilla, and of {', '.join(PLANNERS)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=86400.0, help="start no run that would end after them")
    parser.add_argument("--loops-per-ms", type=float, default=2000.0, help="of the machine, see calibrate.py")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    parser.add_argument("--keep", type=pathlib.Path, help="folder for logs and histories of the runs")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--picture", type=pathlib.Path, help="PNG file to draw the table into")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that a run in progress is ended, too
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / RUNS
    if not args.report:
        run_missing(path, args)
    print_report(rows_of(args.out))
    if args.picture:
        draw(rows_of(args.out), args.picture)


if __name__ == "__main__":
    main()
