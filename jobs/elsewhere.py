"""Kafka's topics of a job that runs elsewhere, to feed and to check it, as the command line names them."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jobs.reading import from_kafka
from jobs.registry import find

if TYPE_CHECKING:
    from jobs.sources import Topics


@contextlib.contextmanager
def topics(args: argparse.Namespace) -> Iterator[Topics | None]:
    """By a Spark of its own, which knows how to talk to Kafka; None where the job reads files, which needs none."""
    if not from_kafka(args):
        yield None
        return
    from jobs.session import alone
    from jobs.sources import Kafka, Topics

    job = find(args.job)
    with alone(args.jars) as spark:
        yield Topics(spark, job, args.input, Kafka(bootstrap=args.bootstrap), args.topics or job.name)
