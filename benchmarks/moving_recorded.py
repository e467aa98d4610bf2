"""Batches in which key groups move: predicted beside measured, of real jobs that a controller looked after.

    python -m benchmarks.moving_recorded [benchmarks/recorded_moves/shifting-wait.jsonl.gz ...]
    python -m benchmarks.moving_recorded --record NAME out/kept/NAME/history.jsonl

The first prints a row for each history, and why batches with moves were left out. The second keeps of a history, such
as `benchmarks/spark/compare.py --keep` leaves, what a prediction needs: each cycle's snapshot and memory of batches.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import json
import pathlib
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.moving_batches import CLOCKS_S, Errors, told
from streamjob_operator.codec import encode
from streamjob_operator.history import CYCLE, cycles_of
from streamjob_operator.series import BatchSeries, BatchTimes
from streamjob_operator.steps.batching import live
from streamjob_operator.steps.gate import held
from streamjob_operator.steps.singly import cold, ran_of
from streamjob_operator.values import CycleRecord, Memory, Snapshot

RECORDED = pathlib.Path("benchmarks/recorded_moves")


def records_of(path: pathlib.Path) -> list[CycleRecord]:
    """The cycles of a history, packed or not."""
    if path.suffix != ".gz":
        return list(cycles_of(path))
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as plain:
        plain.write(gzip.decompress(path.read_bytes()))
        plain.flush()
        return list(cycles_of(plain.name))


def record(name: str, path: pathlib.Path) -> None:
    """Keep a history without what no prediction needs."""
    lines = [json.dumps({"kind": CYCLE, **encode(_bare(one))}, separators=(",", ":")) for one in cycles_of(path)]
    RECORDED.mkdir(exist_ok=True)
    packed = gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0)
    (RECORDED / f"{name}.jsonl.gz").write_bytes(packed)
    print(f"{name}: {len(lines)} cycles, {len(packed)} bytes")


def _bare(one: CycleRecord) -> CycleRecord:
    memory = None if one.memory is None else Memory(batches=one.memory.batches)
    verdict = held(one.verdict.reason, one.verdict.message)
    return CycleRecord(
        at_s=one.at_s,
        snapshot=one.snapshot,
        scaling=None,
        verdict=verdict,
        receipt=None,
        step_seconds={},
        memory=memory,
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A row of the series, as the first cycle saw it that did: when it ended, whether key groups moved in it, and why
    it is not predicted by that cycle, None where it is."""

    ended_at_s: float
    moves: bool
    left_out: str | None


def batches(records: Sequence[CycleRecord]) -> list[Batch]:
    """Every row of all cycles, once each. One that any cycle predicts is not left out."""
    found: dict[float, Batch] = {}
    before = Memory()
    for record_ in records:
        if record_.snapshot is not None and record_.snapshot.series is not None:
            for one in _rows(record_.snapshot, record_.snapshot.series, before):
                known = found.get(one.ended_at_s)
                if known is None or known.left_out is not None:
                    found[one.ended_at_s] = one
        before = before if record_.memory is None else record_.memory
    return [found[ended_at_s] for ended_at_s in sorted(found)]


def _rows(snapshot: Snapshot, series: BatchSeries, before: Memory) -> Iterator[Batch]:
    within = np.flatnonzero(series.within(snapshot.taken_at_s - snapshot.window_s)).tolist()
    for row in within:
        ended_at_s = float(series.ended_at_s[row])
        yield Batch(
            ended_at_s=ended_at_s, moves=bool(series.moved[row] > 0), left_out=_why(snapshot, series, before, row)
        )


def _why(snapshot: Snapshot, series: BatchSeries, before: Memory, row: int) -> str | None:
    """Why a row is not predicted."""
    ran = ran_of(series)
    if before.batches.fixed_s is None:
        return "nothing was known yet"
    if ran is None or (series.executors_changed[row:] > 0).any():
        return "executors came or went"
    if series.moved[row] > 0 and series.batches[row] > 1:
        return "several batches between two readings"
    if not ran.known[row]:
        return "who moved is not certain"
    if cold(ran)[row]:
        return "moves to an executor that ran none"
    there = {one.executor_id for one in live(snapshot)}
    return None if {str(one) for one in ran.owners[row].tolist()} <= there else "on an executor that is gone"


def errors(rows: Sequence[Batch], times: BatchTimes, *, moves: bool) -> Errors:
    """Of the batches in which key groups moved, or of the others."""
    ended_s = np.array([one.ended_at_s for one in rows if one.moves is moves])
    near = np.abs(times.ended_at_s[:, None] - ended_s).min(axis=1, initial=np.inf) < CLOCKS_S
    return Errors(batches=ended_s.size, errors_pct=100.0 * times.rows(near).error_ratio)


def row_of(path: pathlib.Path) -> tuple[str, Counter[str]]:
    """A row in Markdown, and why batches with moves were left out."""
    records = records_of(path)
    with_moves, without, rows = told(records, free=False), told(records, free=True), batches(records)
    name = path.name.partition(".")[0]
    left_out = Counter(one.left_out for one in rows if one.moves and one.left_out is not None)
    if with_moves is None or without is None:
        return f"| {name} | nothing was predicted |", left_out
    still, moving = (errors(rows, with_moves, moves=one) for one in (False, True))
    free = errors(rows, without, moves=True).cells.partition("| ")[2]
    return f"| {name} | {still.cells} {moving.cells} {free}", left_out


def main() -> None:
    """Print a row for each history, or keep one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", nargs="*", type=pathlib.Path, help=f"default: those of {RECORDED}")
    parser.add_argument("--record", metavar="NAME", help="keep the one history under this name")
    asked = parser.parse_args()
    if asked.record is not None:
        (path,) = asked.histories
        record(asked.record, path)
        return
    print(
        "| job | batches without moves | error p50 / p90 % | with moves | error p50 / p90 % | if moves cost nothing |"
    )
    print("|---|---|---|---|---|---|")
    why: Counter[str] = Counter()
    for path in asked.histories or sorted(RECORDED.glob("*.jsonl.gz")):
        row, left_out = row_of(path)
        print(row, flush=True)
        why += left_out
    for reason, count in why.most_common():
        print(f"left out, {reason}: {count}")


if __name__ == "__main__":
    main()
