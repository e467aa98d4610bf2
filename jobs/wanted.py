"""Runs as the command line asks for them."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence

from jobs import harmed, suite
from jobs.acts import BATCHES_A_MINUTE, Harm
from jobs.job import Job
from jobs.reading import KAFKA, from_kafka
from jobs.sources import Files, Kafka, Open
from jobs.trial import Outcome

OF_SOURCE = ("source", "bootstrap", "jars", "max_offsets_per_trigger", "min_partitions")
BATCHES = 8
HARMED = "harmed"
"""Folder of drivers that are killed."""


def outcomes(chosen: Sequence[Job], args: argparse.Namespace, moved: bool) -> Iterator[Outcome]:
    """What comes of each job; ValueError where options do not go together."""
    harm, open_source = _harm(args), _source(args)
    usual = math.ceil(BATCHES_A_MINUTE * harm.minutes) if harm.minutes else BATCHES
    batches = usual if args.batches is None else args.batches
    amounts = suite.Amounts(seed=args.seed, rows=args.rows, batches=batches, key_groups=args.key_groups)
    if harm.minutes and not moved:
        raise ValueError("minutes: given for plain Spark; who drains an executor is the agent.")
    if not (harm.executors or harm.driver or harm.minutes):
        return suite.run_all(chosen, amounts, args.out, moved, open_source, args.jars, args.resume)
    return harmed.run_all(chosen, amounts, args.out / HARMED, moved, harm, _words(args))


def _harm(args: argparse.Namespace) -> Harm:
    kafka = args.source == KAFKA
    return Harm(executors=args.kill_executors, driver=args.kill_driver, minutes=args.minutes, broker=kafka)


def _source(args: argparse.Namespace) -> Open:
    if not from_kafka(args):
        return Files
    most, tasks = args.max_offsets_per_trigger, args.min_partitions
    return Kafka(bootstrap=args.bootstrap, most=most, min_partitions=tasks).open


def _words(args: argparse.Namespace) -> dict[str, str]:
    given = {name: getattr(args, name) for name in OF_SOURCE}
    return {f"--{name.replace('_', '-')}": str(value) for name, value in given.items() if value is not None}
