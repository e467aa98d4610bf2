"""Runs as the command line asks for them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from jobs import harmed, suite
from jobs.harm import Harm
from jobs.job import Job
from jobs.reading import KAFKA, from_kafka
from jobs.sources import Files, Kafka, Open
from jobs.trial import Outcome

OF_SOURCE = ("source", "bootstrap", "jars", "max_offsets_per_trigger", "min_partitions")


def outcomes(chosen: Sequence[Job], args: argparse.Namespace, moved: bool) -> Iterator[Outcome]:
    """What comes of each job; ValueError where options do not go together."""
    amounts = suite.Amounts(seed=args.seed, rows=args.rows, batches=args.batches, key_groups=args.key_groups)
    harm, open_source = Harm(executors=args.kill_executors, driver=args.kill_driver), _source(args)
    if args.source == KAFKA and (harm.driver or args.resume):
        raise ValueError(f"source: {args.source!r} given; --kill-driver and --resume are for files only.")
    if harm == Harm():
        return suite.run_all(chosen, amounts, args.out, moved, open_source, args.jars, args.resume)
    return harmed.run_all(chosen, amounts, args.out / "killed", moved, harm, _words(args))


def _source(args: argparse.Namespace) -> Open:
    if not from_kafka(args):
        return Files
    most, tasks = args.max_offsets_per_trigger, args.min_partitions
    return Kafka(bootstrap=args.bootstrap, most=most, min_partitions=tasks).open


def _words(args: argparse.Namespace) -> list[str]:
    given = {name: getattr(args, name) for name in OF_SOURCE}
    pairs = ((f"--{name.replace('_', '-')}", str(value)) for name, value in given.items() if value is not None)
    return [word for pair in pairs for word in pair]
