"""Jobs on nodes that are a wire apart: plain Spark against StreamJob's planners, by bytes, batches and answers.

    python -m benchmarks.nodes                                   # two nodes, 50 Mbit/s; needs root
    python -m benchmarks.nodes --mbit 200 --jobs pairs --systems vanilla,albic --rounds 2
    python -m benchmarks.nodes --report

Each finished run is a line of OUT/nodes.jsonl, so that a call goes on where the last one stopped; `--seconds` bounds
what one call does. Network namespaces are made for a call, and are gone after it.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence

from benchmarks.nodes.fleet import fleet
from benchmarks.nodes.kept import Kept, append, read
from benchmarks.nodes.network import Unusable
from benchmarks.nodes.picture import draw
from benchmarks.nodes.report import limits, report
from benchmarks.nodes.runs import BATCHES, PLANNERS, VANILLA, Case, run

FILE = "nodes.jsonl"
SHARED_MEMORY = pathlib.Path("/dev/shm")
USUAL_S = 100.0
"""What a run takes, about."""


def _where(args: argparse.Namespace) -> tuple[int, int, float]:
    return args.nodes, args.executors, args.mbit


def missing(args: argparse.Namespace, done: Sequence[Kept]) -> Iterator[tuple[str, str, int]]:
    """(job, system, round) still to run, whole rounds one after another; every second one the other way round."""
    have = {(one.job, one.system, one.turn) for one in done if (one.nodes, one.executors, one.mbit_s) == _where(args)}
    systems = args.systems.split(",")
    for turn in range(args.rounds):
        for job in args.jobs.split(","):
            for system in systems if turn % 2 == 0 else systems[::-1]:
                if (job, system, turn) not in have:
                    yield job, system, turn


def run_missing(file: pathlib.Path, args: argparse.Namespace) -> None:
    """Run and keep what is missing, as much as the time allows."""
    until_s = time.monotonic() + args.seconds
    todo = list(missing(args, read(file)))
    if not todo:
        return
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="nodes-", dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None))
    try:
        with fleet(args.nodes, args.executors, args.mbit, scratch) as spark:
            for job, system, turn in todo:
                if time.monotonic() + USUAL_S > until_s:
                    return
                folder = scratch / f"{job}-{system}-{turn}"
                case = Case(job=job, batches=args.batches)
                ran = run(spark, case, system, folder)
                kept = Kept(
                    nodes=args.nodes,
                    executors=args.executors,
                    mbit_s=args.mbit,
                    job=job,
                    system=system,
                    turn=turn,
                    at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                    case=dataclasses.asdict(case),
                    ran=ran,
                )
                append(file, kept)
                _keep(folder, args.keep)
                shutil.rmtree(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _keep(folder: pathlib.Path, where: pathlib.Path | None) -> None:
    if where is not None:
        shutil.copytree(folder, where / folder.name, ignore=shutil.ignore_patterns("local", "checkpoint", "input"))


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--executors", type=int, default=1, help="on each node, of one slot")
    parser.add_argument("--mbit", type=float, default=50.0, help="what a node's cable carries each way")
    parser.add_argument("--jobs", default="pairs,half,albic-2,albic-3")
    parser.add_argument("--systems", default=",".join((VANILLA, *PLANNERS)))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--batches", type=int, default=BATCHES)
    parser.add_argument("--seconds", type=float, default=86400.0, help="begin no run that would end after them")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    parser.add_argument("--keep", type=pathlib.Path, help="folder for logs and histories of the runs")
    parser.add_argument("--report", action="store_true")
    parser.add_argument(
        "--picture", type=pathlib.Path, help="PNG file to draw the runs of --nodes, --mbit, --jobs into"
    )
    parser.add_argument("--limits", type=pathlib.Path, help="JSON file for mean, spread and trials of every figure")
    return parser.parse_args(words)


def main() -> int:
    """Run what is missing, or report what there is."""
    args = arguments(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that namespaces go, too
    if not args.report:
        try:
            run_missing(args.out / FILE, args)
        except Unusable as error:
            print(error, file=sys.stderr)
            return 2
    done = read(args.out / FILE)
    print(report(done))
    if args.limits:
        args.limits.write_text(json.dumps(limits(done), indent=1) + "\n", encoding="utf-8")
    if args.picture:
        here = [one for one in done if (one.nodes, one.executors, one.mbit_s) == _where(args)]
        draw(here, args.jobs.split(","), args.picture)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
