"""`python -m jobs`: list the jobs, run one, feed or check one that runs elsewhere, write its StreamJob, run them all."""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import shutil
import sys
from collections.abc import Sequence

from jobs import feed
from jobs.checking import check
from jobs.registry import JOBS, find

OUT = pathlib.Path("out/jobs")


def main(words: Sequence[str] | None = None) -> int:
    """The exit code: 0 when all is right, 1 when an answer is wrong, 2 when the command is."""
    args = _parser().parse_args(words)
    try:
        return int(args.act(args))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2


def show(_: argparse.Namespace) -> int:
    """All jobs, a line each."""
    for job in JOBS:
        print(f"{job.name:<20} {job.source}: {job.about}")
    return 0


def run(args: argparse.Namespace) -> int:
    """One job on a Spark of its own."""
    from jobs.session import local_cluster
    from jobs.trial import run as run_once
    from jobs.trial import sentences

    job, folder = find(args.job), args.out / args.job
    shutil.rmtree(folder, ignore_errors=True)
    with local_cluster() as spark, contextlib.ExitStack() as stack:
        mover = None
        if args.streamjob:
            from jobs.moves import moving

            mover = stack.enter_context(moving(spark, args.seed))
        outcome = run_once(spark, job, folder.absolute(), args.seed, args.rows, args.batches, mover)
    print("\n".join(sentences(outcome)))
    return 0 if outcome.exact else 1


def publish(args: argparse.Namespace) -> int:
    """Input for a job that runs elsewhere."""
    feed.publish_at(find(args.job), args.input, args.seed, args.rate, args.every, args.batches)
    return 0


def compare(args: argparse.Namespace) -> int:
    """The output of a job that ran elsewhere."""
    differences = check(find(args.job), args.input, args.out)
    print("\n".join(differences) or f"{args.job}: exact")
    return 1 if differences else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m jobs", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("list", help=show.__doc__).set_defaults(act=show)
    one = _command(commands, "run", run)
    _amounts(one)
    how = one.add_mutually_exclusive_group()
    how.add_argument("--vanilla", action="store_true", help="plain Spark, the default")
    how.add_argument("--streamjob", action="store_true", help="with the agent, and key groups moved at random")
    one.add_argument("--out", type=pathlib.Path, default=OUT, help="folder for input, output and checkpoints")
    feeding = _command(commands, "feed", publish)
    feeding.add_argument("--input", type=pathlib.Path, required=True, help="the folder that the job reads")
    feeding.add_argument("--rate", type=float, default=1000.0, help="rows a second of all streams together")
    feeding.add_argument("--every", type=float, default=1.0, help="seconds between two batches of files")
    feeding.add_argument("--seed", type=int, default=0)
    feeding.add_argument("--batches", type=int, help="how many; without, until it is stopped")
    checking = _command(commands, "check", compare)
    checking.add_argument("--input", type=pathlib.Path, required=True, help="the folder that the job read")
    checking.add_argument("--out", type=pathlib.Path, required=True, help="the folder of its output and checkpoints")
    return parser


def _command(commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, act: object) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=act.__doc__)
    parser.add_argument("job", help="name of the job")
    parser.set_defaults(act=act)
    return parser


def _amounts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same input")
    parser.add_argument("--rows", type=int, default=2000, help="rows of a batch, more or less")
    parser.add_argument("--batches", type=int, default=8)


if __name__ == "__main__":
    raise SystemExit(main())
