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

from picture import draw
from runs import SYSTEMS, Case, batch_ms, run, stamp
from table import RUNS, print_report, read_runs, rows_of
from workload import SKEWS

SKIP = 8  # batches before measuring: warm-up of both sides, and the time that balancing takes to settle
MEASURED = 12
PHASE = 11  # batches between two shifts of the skew; shifting runs measure all of three phases but SKIP batches
SLOTS = {"cpu": 2, "wait": 4}
TOTAL_MS = {"cpu": 3600.0, "wait": 7200.0}  # so that both have a makespan bound of 1.8 s
PARTITIONS = 16
START_S = 24.0  # what a run takes beside its batches
BATCH_S = {"cpu": 2.3, "wait": 3.5}  # what the slower side's batch takes


def make_case(name: str, loops_per_ms: float) -> Case:
    """The cell of a name such as hot-wait: a skew and a kind of work."""
    skew, work = name.split("-")
    return Case(
        skew=skew,
        work=work,
        slots=SLOTS[work],
        partitions=PARTITIONS,
        total_ms=TOTAL_MS[work],
        batches=3 * PHASE if skew == "shifting" else SKIP + MEASURED,
        batches_per_phase=PHASE,
        loops_per_ms=loops_per_ms,
    )


def missing(cases: list[str], rounds: int, done: list[dict[str, object]]) -> Iterator[tuple[str, str, int]]:
    """(case, system, round) still to run; the two sides take turns at going first."""
    have = {(one["case"], one["system"], one["round"]) for one in done}
    for turn in range(rounds):
        for name in cases:
            for system in SYSTEMS if turn % 2 == 0 else SYSTEMS[::-1]:
                if (name, system, turn) not in have:
                    yield name, system, turn


def one_run(name: str, system: str, turn: int, args: argparse.Namespace) -> dict[str, object]:
    """Run a side of a case; its record."""
    case = make_case(name, args.loops_per_ms)
    durations_ms = batch_ms(run(case, system, keep=args.keep and args.keep / f"{name}-{system}-{turn}"), 0)
    makespan_ms = [case.workload().makespan_ms(case.slots, batch) for batch in range(case.batches)]
    return {
        "case": name,
        "system": system,
        "round": turn,
        "at": stamp(),
        "skip": SKIP,
        "phase": PHASE,
        "durations_ms": durations_ms.tolist(),
        "makespan_ms": makespan_ms,
    }


def run_missing(path: pathlib.Path, args: argparse.Namespace) -> None:
    """Run and record what is missing, as much as the arguments allow."""
    until_s = time.monotonic() + args.seconds
    for name, system, turn in missing(args.cases.split(","), args.rounds, read_runs(path)):
        usual_s = START_S + BATCH_S[name.split("-")[1]] * make_case(name, args.loops_per_ms).batches
        if time.monotonic() + usual_s > until_s:
            continue  # a shorter one may fit
        record = one_run(name, system, turn, args)
        with path.open("a") as file:
            file.write(json.dumps(record) + "\n")


def main() -> None:
    """Run what is missing, or report what there is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=",".join(f"{skew}-{work}" for work in SLOTS for skew in SKEWS))
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
