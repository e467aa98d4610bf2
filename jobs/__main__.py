"""`python -m jobs`: list the jobs, run one or all, feed or check one that runs elsewhere, load real data, ..."""

from __future__ import annotations

import argparse
import datetime
import math
import pathlib
import sys
import time
from collections.abc import Callable, Sequence

from jobs import elsewhere, feed
from jobs.checking import check
from jobs.job import Job
from jobs.reading import FILES, SOURCES
from jobs.registry import JOBS, find

OUT = pathlib.Path("out/jobs")
MINUTES = (
    "of harm by chance, with as many batches as that takes: executors and the driver killed, executors drained, stalls "
    "of the broker and of the checkpoint store, which needs bindfs"
)


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
    return _run([find(args.job)], args, args.streamjob)


def run_all(args: argparse.Namespace) -> int:
    """All jobs, or some, on one Spark, with the agent and random moves."""
    chosen = [find(name) for name in args.only.split(",")] if args.only else list(JOBS)
    return _run(chosen, args, not args.vanilla)


def fill(args: argparse.Namespace) -> int:
    """What a column of a page has as "not run", a job after another; the page is written after each."""
    from jobs.page import NOT_RUN, cells, column

    killed = args.kill_driver or args.kill_executors > 0
    if args.minutes:
        raise ValueError("minutes: given; `fill` has columns of runs by batches. `all --only` runs some jobs.")
    if killed and args.vanilla:
        raise ValueError("vanilla: given with kills; the page has no column of plain Spark with kills.")
    name = column(args.source, not args.vanilla, killed)
    known = cells(_text(args.page))
    todo = [job for job in JOBS if known.get(job.name, {}).get(name, NOT_RUN) == NOT_RUN]
    return _run(todo, args, not args.vanilla) if todo else 0


def write_page(args: argparse.Namespace) -> int:
    """A page of what came of each job so far; what no run in --out tells stays as the page has it."""
    from jobs import suite
    from jobs.page import page

    day = datetime.date.today().isoformat()
    files, kafka = (suite.read(args.out / suite.RESULTS[source]) for source in SOURCES)
    args.page.write_text(page(JOBS, files, kafka, day, _text(args.page)), encoding="utf-8")
    return 0


def _text(page: pathlib.Path) -> str:
    return page.read_text(encoding="utf-8") if page.exists() else ""


def _run(chosen: Sequence[Job], args: argparse.Namespace, moved: bool) -> int:
    from jobs import suite  # here: list, feed and check need no Spark
    from jobs.trial import sentences
    from jobs.wanted import outcomes

    exact, until_s = True, time.monotonic() + args.seconds
    for outcome in outcomes(chosen, args, moved):
        print("\n".join(sentences(outcome)), flush=True)
        suite.keep(outcome, args.out / suite.RESULTS[args.source])
        exact &= outcome.exact
        if args.page is not None:
            write_page(args)
        if time.monotonic() > until_s:
            break
    return 0 if exact else 1


def publish(args: argparse.Namespace) -> int:
    """Input for a job that runs elsewhere, behind what the folder has already."""
    job = find(args.job)
    with elsewhere.topics(args) as topics:
        also = None if topics is None else topics.add
        feed.publish_at(job, args.input, args.seed, args.rate, args.every, args.batches, also)
    return 0


def load(args: argparse.Namespace) -> int:
    """A downloaded file of a real data set as input, in the order of time, behind what was loaded before."""
    from jobs.real import LOADERS, in_order

    job = find(args.job)
    known = sorted(job.streams.keys() & LOADERS.keys())
    if args.stream not in known:
        raise ValueError(f"stream: {args.stream!r} given; {job.name} can load {', '.join(known) or 'none'}.")
    if args.rows < 1:
        raise ValueError(f"rows: {args.rows} given; a batch has 1 or more.")
    if not args.file.is_file():
        raise ValueError(f"file: {args.file} given; there is no such file.")
    feed.prepare(job, args.input)
    first, sizes = feed.following(args.input / args.stream), list[int]()
    with args.file.open(encoding="utf-8", errors="replace", newline="") as lines:
        rows = in_order(LOADERS[args.stream](lines), args.input)
        for number, some in enumerate(feed.chunks(rows, args.rows), first):
            feed.publish({args.stream: some}, args.input, number, changed_s=feed.FIRST_S + number)
            sizes.append(len(some))
    if not sizes:
        raise ValueError(f"file: {args.file} given; no line of it is a record for {args.stream}.")
    print(f"{job.name}: {sum(sizes)} rows of {args.stream} in {len(sizes)} batches")
    return 0


def compare(args: argparse.Namespace) -> int:
    """The output of a job that ran elsewhere."""
    job = find(args.job)
    with elsewhere.topics(args) as topics:
        differences = check(job, args.input, args.out) if topics is None else topics.check(args.out)
    print("\n".join(differences) or f"{args.job}: exact")
    return 1 if differences else 0


def write_yaml(args: argparse.Namespace) -> int:
    """A StreamJob for a job, on a laptop or a cluster."""
    import yaml

    from jobs import manifest

    job = find(args.job)
    print(yaml.safe_dump(manifest.cluster(job) if args.cluster else manifest.laptop(job), sort_keys=False), end="")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m jobs", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("list", help=show.__doc__).set_defaults(act=show)
    one = _command(commands, "run", run)
    _amounts(one)
    how = one.add_mutually_exclusive_group()
    how.add_argument("--vanilla", action="store_true", help="plain Spark, the default")
    how.add_argument("--streamjob", action="store_true", help="with the agent, and key groups moved at random")
    every = commands.add_parser("all", help=run_all.__doc__)
    every.set_defaults(act=run_all)
    every.add_argument("--only", metavar="NAME,...", help="these jobs")
    every.add_argument("--vanilla", action="store_true", help="plain Spark, without the agent")
    _amounts(every)
    filling = commands.add_parser("fill", help=fill.__doc__)
    filling.set_defaults(act=fill)
    filling.add_argument("page", type=pathlib.Path, help="Markdown file, as `page` writes it")
    filling.add_argument("--vanilla", action="store_true", help="plain Spark's column, not that with moves")
    _amounts(filling)
    showing = commands.add_parser("page", help=write_page.__doc__)
    showing.set_defaults(act=write_page)
    showing.add_argument("page", type=pathlib.Path, help="Markdown file to write")
    _out(showing)
    feeding = _command(commands, "feed", publish)
    feeding.add_argument("--input", type=pathlib.Path, required=True, help="the folder that the job reads, or a copy")
    _elsewhere(feeding)
    feeding.add_argument("--rate", type=float, default=1000.0, help="rows a second of all streams together")
    feeding.add_argument("--every", type=float, default=1.0, help="seconds between two batches of files")
    feeding.add_argument("--seed", type=int, default=0)
    feeding.add_argument("--batches", type=int, help="how many; without, until it is stopped")
    loading = _command(commands, "load", load)
    loading.add_argument("--stream", required=True, help="the stream that the file's rows are for")
    loading.add_argument("--file", type=pathlib.Path, required=True, help="as its publisher gives it, unpacked")
    loading.add_argument("--input", type=pathlib.Path, required=True, help="the folder that the job reads")
    loading.add_argument("--rows", type=int, default=2000, help="rows of a batch")
    checking = _command(commands, "check", compare)
    checking.add_argument("--input", type=pathlib.Path, required=True, help="the folder that `feed` filled")
    _elsewhere(checking)
    checking.add_argument("--out", type=pathlib.Path, required=True, help="the folder of its output and checkpoints")
    describing = _command(commands, "yaml", write_yaml)
    describing.add_argument("--cluster", action="store_true", help="for Kubernetes; without, for this machine")
    return parser


Commands = argparse._SubParsersAction  # the type of what add_subparsers gives has no other name


def _command(
    commands: Commands[argparse.ArgumentParser], name: str, act: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=act.__doc__)
    parser.add_argument("job", help="name of the job")
    parser.set_defaults(act=act)
    return parser


def _amounts(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(page=None)
    _sources(parser)
    parser.add_argument("--max-offsets-per-trigger", type=int, help="of Kafka: rows of a stream that a batch takes in")
    parser.add_argument("--min-partitions", type=int, help="of Kafka: tasks that read a stream")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same input")
    parser.add_argument("--rows", type=int, default=2000, help="rows of a batch, more or less")
    parser.add_argument("--batches", type=int, help="8, or 20 for each of --minutes: as many as it can have")
    parser.add_argument("--key-groups", type=int, default=8, help="of each operator with state")
    parser.add_argument("--kill-executors", type=int, default=0, help="of each job in mid-run, one after another")
    parser.add_argument("--kill-driver", action="store_true", help="of each job, later; it is started again")
    parser.add_argument("--minutes", type=float, default=0.0, help=MINUTES)
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no job after them")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoints in --out, if there are any")
    _out(parser)


def _sources(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", choices=SOURCES, default=FILES, help="where the job reads its streams")
    parser.add_argument("--bootstrap", metavar="HOST:PORT", help="of Kafka: a broker; topics come with their first row")
    parser.add_argument("--jars", type=pathlib.Path, help="of Kafka: folder with the jars of Spark's Kafka source")


def _elsewhere(parser: argparse.ArgumentParser) -> None:
    _sources(parser)
    parser.add_argument("--topics", help="of Kafka: topics are this, a dot and a stream; without, the job's name")


def _out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=pathlib.Path, default=OUT, help="folder for input, output and outcomes")


if __name__ == "__main__":
    raise SystemExit(main())
