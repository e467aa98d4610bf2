"""Scaling rules on real Spark: one trace after another out of Kafka, and what the simulator says of each.

    python -m benchmarks.rules_on_spark                         # both traces, all systems, one seed
    python -m benchmarks.rules_on_spark --traces flash-crowd --systems keda,batch-time --seconds 1200
    python -m benchmarks.rules_on_spark --publish               # the page and limits of what there is

Each finished run is a line of OUT/runs.jsonl, so that a call goes on where the last one stopped. Java 17 and Kafka's
jars are needed (`python -m e2e.cluster.kafka`).
"""

from __future__ import annotations

import argparse
import json
import pathlib
import signal
import sys
import time
from typing import Any

from benchmarks.rules_on_spark import page, running, twin
from benchmarks.rules_on_spark.course import course
from benchmarks.rules_on_spark.shape import FASTER, MOST, OBJECTIVE_S
from benchmarks.rules_on_spark.systems import NAMES, systems

OUT = pathlib.Path("out/rules_on_spark")
TRACES = ("diurnal", "flash-crowd")
BASE_RPS, DURATION_S = 1200.0, 300.0
"""Height 1 of a trace's curve, about four executors' work; and the length of its day."""
USUAL_S = 480.0
TWINS = 5
"""Simulated runs beside each real one."""


def main() -> int:
    """0 where every run that was due has an exact answer."""
    given = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that a run in progress is ended, too
    given.out.mkdir(parents=True, exist_ok=True)
    file = given.out / "runs.jsonl"
    good = True if given.publish else _run(given, file)
    if given.publish:
        _publish([{**line, "foretold": _foretold(line)} for line in _kept(file)])
    return 0 if good else 1


def _run(given: argparse.Namespace, file: pathlib.Path) -> bool:
    until_s, good = time.monotonic() + given.seconds, True
    known = {one.name: one for one in systems(MOST, FASTER)}
    for seed in range(1, given.seeds + 1):
        for trace in given.traces:
            for name in given.systems:
                piece = {"trace": trace, "system": name, "seed": seed}
                kept = _kept(file)
                longest_s = max((one["took_s"] for one in kept), default=USUAL_S)
                if any(piece.items() <= one.items() for one in kept) or time.monotonic() + longest_s > until_s:
                    continue
                good &= _piece(piece, known[name], given, file)
    return good


def _piece(piece: dict[str, Any], system: Any, given: argparse.Namespace, file: pathlib.Path) -> bool:
    arrives = course(piece["trace"], piece["seed"], BASE_RPS, DURATION_S)
    keep = given.keep and given.keep / "-".join(map(str, piece.values()))
    try:
        line = {**piece, **running.run(arrives, system, keep)}
    except (RuntimeError, ValueError) as error:
        print(f"{piece}: failed: {error}", flush=True)
        return False
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(line) + "\n")
    print(page.sentence(line), flush=True)
    return not line["differences"]


def _publish(lines: list[dict[str, Any]]) -> None:
    """Picture, page and limits."""
    from benchmarks.rules_on_spark.picture import draw

    lines = sorted(lines, key=lambda one: (TRACES.index(one["trace"]), NAMES.index(one["system"]), one["seed"]))
    courses = {trace: course(trace, 1, BASE_RPS, DURATION_S) for trace in TRACES}
    draw(lines, courses, OBJECTIVE_S, page.PICTURE)
    page.publish(lines)


def _foretold(line: dict[str, Any]) -> list[dict[str, Any]]:
    """What the simulator says of a kept run: the same rates, some worlds of chance."""
    known = {one.name: one for one in systems(MOST, FASTER)}
    arrives = course(line["trace"], line["seed"], BASE_RPS, DURATION_S)
    return [twin.forecast(arrives, known[line["system"]], seed) for seed in range(1, TWINS + 1)]


def _kept(file: pathlib.Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=_listed, default=list(TRACES), metavar="TRACE,...")
    parser.add_argument("--systems", type=_listed, default=list(NAMES), metavar="SYSTEM,...")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=86400.0, help="begin no run that would end after them")
    parser.add_argument("--out", type=pathlib.Path, default=OUT)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for logs and histories of the runs")
    parser.add_argument("--publish", action="store_true", help="run nothing; write the page and the limits")
    given = parser.parse_args()
    for name in given.systems:
        if name not in NAMES:
            parser.error(f"--systems: {name!r} given; known are {', '.join(NAMES)}")
    return given


def _listed(text: str) -> list[str]:
    return text.split(",")


if __name__ == "__main__":
    raise SystemExit(main())
