"""Kafka from Maven's repository: the jars of a broker and of Spark's Kafka source, in the cache by what was asked for.

`python -m e2e.cluster.kafka` fetches them (64 MB, two minutes) and prints where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from e2e.cluster.maven import are_there, can_be_had, how_to_get, jars

WANTED = Path(__file__).parent / "kafka_jars"
BROKER, CONNECTOR = "broker", "connector"
HOW_TO_GET = how_to_get("Kafka")


def get(part: str) -> Path:
    """The folder with the part's jars, fetched where it is not there; raises RuntimeError when it cannot be."""
    return jars(*_asked(part))


def to_fetch() -> str | None:
    """What to tell who fetches nothing by itself; None where the jars are there."""
    return (
        None if _both(are_there) else "Kafka's jars are not there: `python -m e2e.cluster.kafka` fetches them (64 MB)"
    )


def refusal() -> str | None:
    """What to tell where the jars are not there and cannot be fetched; None where they can be had."""
    return None if _both(can_be_had) else "Kafka's cases need: apt-get install -y maven"


def _both(check: Callable[[Path, str], bool]) -> bool:
    return all(check(*_asked(part)) for part in (BROKER, CONNECTOR))


def _asked(part: str) -> tuple[Path, str]:
    return WANTED / f"{part}.xml", f"kafka-{part}"


def main() -> None:
    """Fetch what is missing and say where it is."""
    for part in (BROKER, CONNECTOR):
        folder = get(part)
        size = sum(jar.stat().st_size for jar in folder.iterdir())
        print(f"{part}: {size / 1e6:.0f} MB, {folder}", flush=True)


if __name__ == "__main__":
    main()
