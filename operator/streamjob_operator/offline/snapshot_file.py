"""A measurement in a file: what the controller saw last, kept so that anybody can plan on it later.

The file is one JSON object, `{"kind": "snapshot", "version": 1, "snapshot": {...}, "marked": [...]}`, in the codec's
form. A history file is read too: its newest cycle that measured something.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from streamjob_agent.wire import MOST_CORES
from streamjob_operator.codec import decode, encode
from streamjob_operator.files import write_whole
from streamjob_operator.history import HistoryError, newest_first
from streamjob_operator.measure.page_text import MOST_VALUE
from streamjob_operator.observed import OthersLag
from streamjob_operator.steps.batching import live
from streamjob_operator.values import CycleRecord, ExecutorView, Memory, QueryRates, RunningBatch, Snapshot, StageView
from streamjob_planners.collocation.remote_cost import Evidence

Measured = Snapshot | QueryRates | RunningBatch | OthersLag | ExecutorView | StageView
KIND, VERSION = "snapshot", 1
HISTORY_SUFFIX = ".jsonl"
_COLUMNS = (
    "owners",
    "busy_s",
    "cpu_s",
    "records",
    "state_bytes",
    "state_memory_bytes",
    "warmup_s",
    "traffic_sent_bytes",
    "read_bytes",
    "remote_read_bytes",
)
"""Of a snapshot: one value for each key group."""


class SnapshotError(ValueError):
    """A file that no plan can be made from; the sentence names the file and what is wrong."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What was measured, the executors that were being drained, and what had been learned about remote reads."""

    snapshot: Snapshot
    marked: tuple[str, ...] = ()
    remote_reads: Evidence | None = None


def moment_of(record: CycleRecord) -> Moment | None:
    """What a cycle measured; None when it measured nothing."""
    if record.snapshot is None:
        return None
    memory = record.memory or Memory()
    return Moment(snapshot=record.snapshot, marked=memory.marked, remote_reads=memory.remote_reads)


class SnapshotFile:
    """Reporter that keeps the newest measurement in a file; it is replaced as a whole, never half written."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def report(self, record: CycleRecord) -> None:
        """Write what the cycle measured; raises OSError when the disk refuses."""
        moment = moment_of(record)
        if moment is not None:
            write_moment(self._path, moment)


def write_moment(path: Path, moment: Moment) -> None:
    """Write the file, its folders too; raises OSError."""
    document = {"kind": KIND, "version": VERSION, **encode(moment)}
    write_whole(path, json.dumps(document, separators=(",", ":"), allow_nan=False) + "\n")


def read_moment(path: Path) -> Moment:
    """What a snapshot file, or the newest measured cycle of a history file, holds; raises SnapshotError."""
    moment = _from_history(path) if path.suffix == HISTORY_SUFFIX else _from_document(path)
    trouble = _trouble(moment.snapshot)
    if trouble is not None:
        raise SnapshotError(f"{path}: {trouble}.")
    return moment


def _from_history(path: Path) -> Moment:
    try:
        newest = next((moment for moment in map(moment_of, newest_first(path)) if moment is not None), None)
    except HistoryError as error:
        raise SnapshotError(f"{error}.") from error
    if newest is None:
        raise SnapshotError(f"{path}: no cycle of this history measured anything.")
    return newest


def _from_document(path: Path) -> Moment:
    try:
        document: Any = json.loads(path.read_bytes())
    except OSError as error:
        raise SnapshotError(f"{path}: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise SnapshotError(f"{path}: this is not JSON: {error}.") from error
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise SnapshotError(f'{path}: this is not a snapshot; an object with "kind": "{KIND}" is needed.')
    if document.get("version") != VERSION:
        raise SnapshotError(f"{path}: version {str(document.get('version'))[:80]} given, {VERSION} is read.")
    try:
        return decode(Moment, document)
    except ValueError as error:
        raise SnapshotError(f"{path}: {error}.") from error


def _trouble(snapshot: Snapshot) -> str | None:
    """What makes planning on a snapshot impossible, None when nothing does. The load model checks the rest."""
    troubles = (_lengths, _busy, _traffic, _stages, _memory, _fleet, _numbers)
    return next((trouble for look in troubles for trouble in look(snapshot)), None)


def _lengths(snapshot: Snapshot) -> Iterator[str]:
    n_groups = len(snapshot.group_ids)
    if n_groups == 0:
        yield "no key group was measured"
    for name in _COLUMNS:
        values = getattr(snapshot, name)
        if values is not None and np.shape(values) != (n_groups,):
            yield f"{name}: {_count(np.shape(values))} values given for {n_groups} key groups"
    if len(set(snapshot.group_ids)) < n_groups:
        yield "group_ids: a key group is given twice, each may be once"
    trouble = None if snapshot.series is None else snapshot.series.trouble(n_groups)
    if trouble is not None:
        yield f"series: {trouble}"


def _busy(snapshot: Snapshot) -> Iterator[str]:
    """Loads may go by the means of earlier windows, which would hide it from the load model."""
    if not bool(np.isfinite(snapshot.busy_s).all() and (snapshot.busy_s >= 0).all()):
        yield "busy_s: every value must be a finite number of 0 or more"


def _count(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def _traffic(snapshot: Snapshot) -> Iterator[str]:
    n_groups, traffic = len(snapshot.group_ids), snapshot.traffic_bytes
    if traffic is None:
        return
    if traffic.shape != (n_groups, n_groups):
        yield f"traffic_bytes: shape {traffic.shape} given for {n_groups} key groups"
    if not bool(np.isfinite(traffic.data).all() and (traffic.data >= 0).all()):
        yield "traffic_bytes: every value must be a finite number of 0 or more"


def _stages(snapshot: Snapshot) -> Iterator[str]:
    for stage in snapshot.stages:
        for name in ("level", "wall_s", "busy_s", "longest_s", "spread_s"):
            value = getattr(stage, name)
            if value is not None and not 0 <= value < np.inf:
                yield f"stages: {name} {value:g} given, a finite number of 0 or more is needed"


def _memory(snapshot: Snapshot) -> Iterator[str]:
    limits = [one.state_limit_bytes for one in snapshot.executors if one.state_limit_bytes is not None]
    for name, values in (("state_memory_bytes", snapshot.state_memory_bytes), ("state_limit_bytes", np.array(limits))):
        if values is not None and not bool(np.isfinite(values).all() and (values >= 0).all()):
            yield f"{name}: every value must be a finite number of 0 or more"


def _fleet(snapshot: Snapshot) -> Iterator[str]:
    if not 0 < snapshot.window_s < np.inf:
        yield f"window_s: {snapshot.window_s:g} given, a finite number above 0 is needed"
    executors = live(snapshot)
    if not executors:
        yield "no executor is ready or draining"
    if not all(1 <= executor.cores <= MOST_CORES for executor in executors):
        yield f"cores: every executor needs at least one, and has at most {MOST_CORES}"
    if len({executor.executor_id for executor in executors}) < len(executors):
        yield "executors: an executor_id is given twice, each may be once"


def _numbers(snapshot: Snapshot) -> Iterator[str]:
    """Numbers that no measurement is: what is computed with them is none either."""
    parts: list[tuple[str, Measured]] = [("", snapshot)]
    parts += [("rates, ", snapshot.rates), *(("executors, ", one) for one in snapshot.executors)]
    parts += [("stages, ", one) for one in snapshot.stages]
    running = snapshot.rates.running
    parts += [] if running is None else [("rates, running, ", running)]
    others = snapshot.rates.others_lag
    parts += [] if others is None else [("rates, others_lag, ", others)]
    for where, part in parts:
        for field in dataclasses.fields(part):
            value = getattr(part, field.name)
            if isinstance(value, int | float | np.ndarray) and not bool(np.all(np.abs(value) <= MOST_VALUE)):
                yield f"{where}{field.name}: a number above {MOST_VALUE:g} given, which is the most"
    rates = snapshot.rates
    for name in ("batches", "mean_batch_s", "other_busy_s", "trigger_interval_s", "input_rps", "lag_rows"):
        value = getattr(rates, name)
        if value is not None and value < 0:
            yield f"rates, {name}: {value:g} given, a number of 0 or more is needed"
    waiting = {} if running is None else {"running, rows": running.rows}
    waiting |= {} if others is None else {"others_lag, rows": others.rows, "others_lag, own_rows": others.own_rows}
    for name, rows in waiting.items():
        if rows < 0:
            yield f"rates, {name}: {rows:g} given, a number of 0 or more is needed"
