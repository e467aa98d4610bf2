"""What Spark does to a checkpoint, small: batches, their state in files, its repartition, a query's start."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

from streamjob_agent.repartition.values import Contents, Refused, Store

STORE = Store(operator=0, operator_name="stateStoreSave", name="default")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


class CannotStart(Exception):
    pass


class SmallSpark:
    """An engine, and the query. `harm` is done to the copy after the repartition."""

    version = "4.3.0"

    def __init__(self, harm: Callable[[Path], None] | None = None, fails: bool = False) -> None:
        self._harm = harm
        self._fails = fails

    def repartition(self, checkpoint: str, key_groups: int, state_format: str) -> None:
        root = Path(checkpoint)
        batch = newest(root / "commits")
        rows = state(root)
        (root / "offsets" / str(batch + 1)).write_text(plan(key_groups))
        if self._fails:
            raise Refused("Spark's repartition failed")
        write_state(root, rows, batch + 1, key_groups)
        (root / "commits" / str(batch + 1)).write_text("v1\n{}")
        if self._harm is not None:
            self._harm(root)

    def contents(self, checkpoint: str, batch: int) -> Mapping[Store, Contents]:
        folders = sorted((Path(checkpoint) / "state" / "0").iterdir(), key=lambda folder: int(folder.name))
        rows = [
            (key, value, int(folder.name))
            for folder in folders
            for key, value in json.loads((folder / f"{batch + 1}.json").read_text()).items()
        ]
        one = Contents(
            key_groups=len(folders),
            rows=len(rows),
            keys_hash=sum(digest(key) for key, _, _ in rows),
            rows_hash=sum(digest(f"{key}={value}") for key, value, _ in rows),
            misplaced=sum(digest(key) % len(folders) != group for key, _, group in rows),
            keyless=False,
        )
        return {STORE: one}


def digest(text: str) -> int:
    return zlib.crc32(text.encode())


def plan(key_groups: int, provider: str = ROCKSDB) -> str:
    conf = {"spark.sql.shuffle.partitions": str(key_groups), "spark.sql.streaming.stateStore.providerClass": provider}
    return "v1\n" + json.dumps({"batchWatermarkMs": 0, "conf": conf}) + '\n{"logOffset":0}'


def newest(log: Path) -> int:
    return max(int(one.name) for one in log.iterdir())


def write_state(root: Path, rows: Mapping[str, int], batch: int, key_groups: int) -> None:
    for group in range(key_groups):
        folder = root / "state" / "0" / str(group)
        folder.mkdir(parents=True, exist_ok=True)
        mine = {key: value for key, value in rows.items() if digest(key) % key_groups == group}
        (folder / f"{batch + 1}.json").write_text(json.dumps(mine))


def made(root: Path, rows: Mapping[str, int], *, batch: int = 6, key_groups: int = 4) -> Path:
    """A checkpoint of a query that was stopped between two batches."""
    for log in ("offsets", "commits"):
        (root / log).mkdir(parents=True)
    (root / "metadata").write_text('{"id":"a"}')
    for one in range(batch - 1, batch + 1):
        run_batch(root, rows, one, key_groups)
    return root


def run_batch(root: Path, rows: Mapping[str, int], batch: int, key_groups: int) -> None:
    (root / "offsets" / str(batch)).write_text(plan(key_groups))
    write_state(root, rows, batch, key_groups)
    (root / "commits" / str(batch)).write_text("v1\n{}")


def state(root: Path) -> dict[str, int]:
    """What a query that starts now would have. Raises CannotStart where it fails; empty where it begins anew."""
    batches = [int(one.name) for one in (root / "offsets").iterdir()] if (root / "offsets").exists() else []
    if not batches:
        return {}
    head, settings, *_ = (root / "offsets" / str(max(batches))).read_text().split("\n")
    if head != "v1":
        raise CannotStart(head)
    batch, key_groups = newest(root / "commits"), int(json.loads(settings)["conf"]["spark.sql.shuffle.partitions"])
    if batch != max(batches):
        raise CannotStart("unfinished")
    rows: dict[str, int] = {}
    for group in range(key_groups):
        mine = json.loads((root / "state" / "0" / str(group) / f"{batch + 1}.json").read_text())
        assert all(digest(key) % key_groups == group for key in mine)
        rows |= mine
    return rows


def key_groups_of(root: Path) -> int:
    _, settings, *_ = (root / "offsets" / str(newest(root / "offsets"))).read_text().split("\n")
    return int(json.loads(settings)["conf"]["spark.sql.shuffle.partitions"])
