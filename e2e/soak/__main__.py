"""`python -m e2e.soak run` for some hours, `page` for what came of it."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import pathlib
import random
import shutil
import sys
import time
from collections.abc import Sequence

from e2e.compatibility.queries import SHAPES
from e2e.compatibility.rows import COMMON, ROCKSDB, STATE
from e2e.compatibility.running import NotSeen, Running
from e2e.soak import page, samples
from e2e.soak.disturb import Disturber

OUT, ALONE = pathlib.Path("out/soak/agent"), pathlib.Path("out/soak/alone")
AT_ONCE = 3
EVERY_S = 45.0
"""Two such runs side by side leave two cores some rest: Spark gives a Python worker ten seconds to start."""
SAMPLE_S, LOOK_S, TELL_S = 30.0, 2.0, 60.0
LIMITED = {
    # Spark keeps a thousand of each for its own pages, which would take longer than this to fill.
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "500",
    "spark.ui.retainedDeadExecutors": "10",
    "spark.sql.ui.retainedExecutions": "20",
    "spark.sql.streaming.ui.retainedQueries": "10",
    "spark.sql.streaming.ui.retainedProgressUpdates": "10",
    "spark.sql.streaming.numRecentProgressUpdates": "10",
    "spark.sql.streaming.minBatchesToRetain": "5",
    # As the agent has it where nobody else says, so that both sides do the same.
    f"{STATE}.providerClass": ROCKSDB,
    f"{STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    # A worker gives up an application whose executors are killed again and again.
    "spark.deploy.maxExecutorRetries": "-1",
}


def main(words: Sequence[str] | None = None) -> int:
    """The exit code: 0 when every answer is right and everything levels off."""
    args = _parser().parse_args(words)
    return int(args.act(args))


def run(args: argparse.Namespace) -> int:
    """Run it, with a line a minute of what happens; what was run before in that folder is gone."""
    shutil.rmtree(args.out, ignore_errors=True)
    folder = args.out.resolve()
    (folder / "tmp").mkdir(parents=True)
    shapes = [name for name in SHAPES if args.shapes is None or name in args.shapes.split(",")]
    temporary = f" -Djava.io.tmpdir={folder / 'tmp'}"
    conf = {**COMMON, **LIMITED, "spark.local.dir": str(folder / "tmp")}
    conf["spark.driver.extraJavaOptions"] += temporary
    paces = {"at_once": AT_ONCE, "every_s": args.every_s, "sample_s": SAMPLE_S}
    order = {"conf": conf, "seed": args.seed, "shapes": shapes, **paces}
    (folder / "order.json").write_text(json.dumps(order))
    # Under `run` the JVM is there before the program's settings are.
    env = {"TMPDIR": str(folder / "tmp"), "JDK_JAVA_OPTIONS": temporary.strip()}
    running = Running(folder, env, "e2e.soak.program", agent=not args.without_agent, feeds=False)
    try:
        running.begin()
        done = _disturb(running, random.Random(args.seed), 3600 * args.hours)
        (folder / "controller.json").write_text(json.dumps(done))
        running.finish()
    except NotSeen as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        running.end()
    return 0


def _disturb(running: Running, chance: random.Random, for_s: float) -> dict[str, int]:
    """What was done in that time. Raises NotSeen when the program ends before."""
    began_s = told_s = time.monotonic()
    disturber = Disturber(running, chance, began_s)
    while time.monotonic() < began_s + for_s:
        if running.ended():
            raise NotSeen(f"the program has ended: {running.complaint()}")
        _step(running, disturber)
        if time.monotonic() > told_s + TELL_S:
            told_s = time.monotonic()
            _tell(running.folder, disturber, (told_s - began_s) / 60)
        time.sleep(LOOK_S)
    return dataclasses.asdict(disturber.done)


def _step(running: Running, disturber: Disturber) -> None:
    """With an agent by its status, without one by the name that the program leaves of its application."""
    application = running.folder / "application"
    if running.agent:
        status = running.status()
        if status is not None:
            disturber.step(status, time.monotonic())
    elif application.exists():
        disturber.step_alone(running.executors(application.read_text()), time.monotonic())


def _tell(folder: pathlib.Path, disturber: Disturber, minutes: float) -> None:
    told = json.loads((folder / "result.json").read_text()) if (folder / "result.json").exists() else {}
    print(f"{minutes:.0f} min: {told}, {dataclasses.asdict(disturber.done)}", flush=True)


def write(args: argparse.Namespace) -> int:
    """The page and its picture."""
    import pyspark

    alone = args.alone / "samples.jsonl"
    run = page.Run(
        day=datetime.date.fromtimestamp((args.out / "samples.jsonl").stat().st_mtime).isoformat(),
        spark=str(pyspark.__version__),
        order=json.loads((args.out / "order.json").read_text()),
        program=json.loads((args.out / "result.json").read_text()),
        controller=json.loads((args.out / "controller.json").read_text()),
        samples=samples.read(args.out / "samples.jsonl"),
        alone=samples.read(alone) if alone.exists() else None,
        killed_alone=_killed(args.alone / "controller.json"),
        program_alone=json.loads((args.alone / "result.json").read_text()) if alone.exists() else None,
    )
    args.page.write_text(page.page(run), encoding="utf-8")
    page.draw(run, args.page.parent / "pictures" / "soak.png")
    return 0 if run.good else 1


def _killed(path: pathlib.Path) -> int | None:
    return int(json.loads(path.read_text())["killed"]) if path.exists() else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m e2e.soak", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=OUT, help="folder of the run's files")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("run", help=run.__doc__)
    one.set_defaults(act=run)
    one.add_argument("--hours", type=float, default=2.0)
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--shapes", metavar="NAME,...", help="these shapes of queries alone")
    one.add_argument("--every-s", type=float, default=EVERY_S, help="from the beginning of a query to the next one's")
    one.add_argument("--without-agent", action="store_true", help="to see what Spark alone holds")
    whole = commands.add_parser("page", help=write.__doc__)
    whole.set_defaults(act=write)
    whole.add_argument("page", type=pathlib.Path)
    whole.add_argument("--alone", type=pathlib.Path, default=ALONE, help="folder of the run without the agent")
    return parser


if __name__ == "__main__":
    sys.exit(main())
