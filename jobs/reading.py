"""Where a job reads its streams, as the command line names it."""

from __future__ import annotations

import argparse

FILES, KAFKA = "files", "kafka"
SOURCES = (FILES, KAFKA)


def from_kafka(args: argparse.Namespace) -> bool:
    """Whether it reads Kafka; ValueError where what that needs is not given."""
    if args.source == FILES:
        return False
    if args.bootstrap is None or args.jars is None:
        raise ValueError("source: kafka needs --bootstrap and --jars.")
    return True
