"""What the logs of a checkpoint say: text files, one for each batch, that Spark names by its number."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping

from streamjob_agent.repartition.files import Files
from streamjob_agent.repartition.journal import Direction, Seen, read_barrier
from streamjob_agent.repartition.place import room_of, turned_back_of

PARTITIONS = "spark.sql.shuffle.partitions"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a batch was planned with."""

    key_groups: int | None
    provider: str


def numbers(names: Iterable[str]) -> tuple[int, ...]:
    """Batches by the names of their files, or key groups by those of their folders, in order."""
    return tuple(sorted(int(name) for name in names if name.isascii() and name.isdigit()))


def read_settings(text: str) -> Settings:
    """From a file of the log of planned batches. Unknown is what it does not say."""
    lines = text.split("\n")
    try:
        told = json.loads(lines[1])["conf"]
    except (ValueError, TypeError, KeyError, IndexError):
        told = {}
    conf: Mapping[str, str] = told if isinstance(told, dict) else {}
    found = str(conf.get(PARTITIONS, ""))
    return Settings(key_groups=int(found) if found.isdigit() else None, provider=str(conf.get(PROVIDER, "")))


def state_format(text: str) -> str:
    """The version of the checkpoint's form, as `spark.sql.streaming.stateStore.checkpointFormatVersion` has it, from a
    file of the log of finished batches."""
    return text.partition("\n")[0].removeprefix("v") or "1"


def look(files: Files, checkpoint: str) -> Seen:
    """What is there of a checkpoint, and of a change beside it."""
    planned = numbers(files.names(f"{checkpoint}/offsets"))
    barrier = _barrier(files, checkpoint, planned)
    if barrier is not None:
        planned = planned[:-1]
    finished = numbers(files.names(f"{checkpoint}/commits"))
    room = room_of(checkpoint)
    return Seen(
        room=files.exists(room),
        old_state=files.exists(f"{room}/old/state"),
        barrier=barrier,
        batch=planned[-1] if planned else None,
        committed=finished[-1] if finished else None,
    )


def _barrier(files: Files, checkpoint: str, planned: tuple[int, ...]) -> Direction | None:
    found = read_barrier(files.read(f"{checkpoint}/offsets/{planned[-1]}")) if planned else None
    return Direction.BACK if found is not None and files.exists(turned_back_of(checkpoint)) else found
