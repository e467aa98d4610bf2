"""Every job of jobs/ on real Spark, as plain Spark and under StreamJob, run by run; what was run before is kept.

python -m benchmarks.jobs_on_spark                                        # all jobs and systems, two rounds
python -m benchmarks.jobs_on_spark --only fraud,ads-clicked --systems vanilla,balance --rounds 3
python -m benchmarks.jobs_on_spark --seconds 1100                         # start no run that would end later
python -m benchmarks.jobs_on_spark --publish                              # limits, page and picture of what there is
"""

from __future__ import annotations

import argparse
import datetime
import pathlib
import signal
import subprocess
import sys
import time

from benchmarks.jobs_on_spark import piece as pieces
from benchmarks.jobs_on_spark import publish, running, shapes, systems
from jobs.registry import JOBS, find

OUT = pathlib.Path("out/jobs_on_spark")


def main() -> int:
    """0 when every run that was due has an exact answer."""
    given = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that a run in progress is ended, too
    try:
        amounts = _amounts(given)
        for name in given.systems:
            systems.named(name)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    wanted = pieces.wanted(given.only, given.shape, given.systems, given.rounds, amounts)
    good = True if given.publish else _run(list(wanted), given)
    if given.publish:
        publish.publish(pieces.read(given.out / pieces.RUNS), datetime.date.today())
    return 0 if good else 1


def _amounts(given: argparse.Namespace) -> dict[str, pieces.Amounts]:
    shape = shapes.named(given.shape)
    return {name: shapes.amounts(shape, find(name).name, given.rows, given.batches, given.skip) for name in given.only}


def _run(wanted: list[pieces.Piece], given: argparse.Namespace) -> bool:
    """Whether all that was run is right."""
    given.out.mkdir(parents=True, exist_ok=True)
    # As `make setup` does: a fresh checkout's first run would else compile the planners' loops beside its batches.
    subprocess.run([sys.executable, "-m", "streamjob_planners.warm"], check=True)
    until_s, good = time.monotonic() + given.seconds, True
    for piece in pieces.missing(iter(wanted), pieces.read(given.out / pieces.RUNS)):
        if time.monotonic() + pieces.usual_s(piece, pieces.read(given.out / pieces.RUNS)) > until_s:
            continue  # a shorter one may fit
        keep = given.keep and given.keep / f"{piece.job}-{piece.system}-{piece.round}"
        try:
            line = running.run(piece, given.out, keep)
        except (RuntimeError, ValueError) as error:
            pieces.append(given.out / pieces.FAILURES, piece, {"failure": str(error)})
            print(f"{piece.job} {piece.system} round {piece.round}: failed: {error}", flush=True)
            good = False
            continue
        pieces.append(given.out / pieces.RUNS, piece, line)
        print(publish.sentence(piece, line), flush=True)
        good &= not line["differences"]
    return good


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=_listed, default=[job.name for job in JOBS], metavar="JOB,...")
    parser.add_argument("--systems", type=_listed, default=list(systems.NAMES), metavar="SYSTEM,...")
    parser.add_argument("--shape", default=shapes.NAMES[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=86400.0, help="start no run that would end after them")
    parser.add_argument("--rows", type=int, help="rows of a batch, in place of what is usual for a job")
    parser.add_argument("--batches", type=int, default=shapes.BATCHES)
    parser.add_argument("--skip", type=int, default=shapes.SKIP, help="first batches, which are not measured")
    parser.add_argument("--out", type=pathlib.Path, default=OUT)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for logs and histories of the runs")
    parser.add_argument("--publish", action="store_true", help="run nothing; write limits, page and picture")
    return parser.parse_args()


def _listed(text: str) -> list[str]:
    return text.split(",")


if __name__ == "__main__":
    raise SystemExit(main())
