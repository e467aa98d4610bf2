"""Kafka from Maven's repository: the jars of a broker and of Spark's Kafka source, in the cache by what was asked for.

`python -m e2e.cluster.kafka` fetches them (64 MB, two minutes) and prints where they are.
"""

from __future__ import annotations

from pathlib import Path

from e2e.cluster.maven import are_there, can_be_had, how_to_get, jars

WANTED = Path(__file__).parent / "kafka_jars"
BROKER, CONNECTOR = "broker", "connector"
HOW_TO_GET = how_to_get("Kafka")


def get(part: str) -> Path:
    """The folder with the part's jars, fetched where it is not there; raises RuntimeError when it cannot be."""
    return jars(WANTED / f"{part}.xml", f"kafka-{part}")


def to_fetch() -> str | None:
    """What to tell who fetches nothing by itself; None where the jars are there."""
    there = all(are_there(WANTED / f"{part}.xml", f"kafka-{part}") for part in (BROKER, CONNECTOR))
    return None if there else "Kafka's jars are not there: `python -m e2e.cluster.kafka` fetches them (64 MB)"


def refusal() -> str | None:
    """What to tell where the jars are not there and cannot be fetched; None where they can be had."""
    had = all(can_be_had(WANTED / f"{part}.xml", f"kafka-{part}") for part in (BROKER, CONNECTOR))
    return None if had else "Kafka's cases need: apt-get install -y maven"


def main() -> None:
    """Fetch what is missing and say where it is."""
    for part in (BROKER, CONNECTOR):
        folder = get(part)
        size = sum(jar.stat().st_size for jar in folder.iterdir())
        print(f"{part}: {size / 1e6:.0f} MB, {folder}", flush=True)


if __name__ == "__main__":
    main()
