"""What a byte costs that a key group reads from another executor: learned from measurement, nothing until it is sure.

Reading, and undoing the serialisation of, remote data keeps the reader's task busy (ALBIC paper, sections 1 and 4.3.2).
Key groups of one operator that do the same work but read different parts of it from elsewhere tell how much. So
`busy seconds = what records, bytes and a slower executor explain + cost * remote bytes` is fitted over all key groups
of a window, operator by operator, with one cost for all. The first part is taken out of busy seconds and of remote
bytes (Frisch and Waugh 1933); what is left are sums that windows share and that forget. The estimate is the lower end
of the cost's confidence interval, at least 0: without evidence collocation promises nothing.

Once key groups are together nothing is read remotely, and windows tell nothing more of the cost: they must not make it
forgotten, or what was gathered would be taken apart. So a window counts, and ages what is older, by how much it tells.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.model import BoolArray, FloatArray, IntArray

KEEP = 0.9
"""What older windows count for in each newer one that tells as much as they did: half after about seven."""
DEVIATIONS = 2.0
"""Standard errors below the best fit: one in forty estimates from noise alone is above 0."""
LEAST_ROWS = 12.0
"""Key groups, beyond those that the fit itself uses up, that must have spoken."""
MOST_ROWS = 4000
"""Key groups of one operator that are looked at: the fit's cost grows with their number."""
MOST_SHARE = 0.8
"""Part of the readers' busy time that remote reads can be at most: a bound on an estimate from odd data."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One window. Rows are key groups that read from others and stayed where they were, (n,) each.

    `node_of` is any numbering of executors; `total_bytes` is what they read, `remote_bytes` the part from elsewhere.
    """

    operator: IntArray
    node_of: IntArray
    busy_s: FloatArray
    records: FloatArray
    total_bytes: FloatArray
    remote_bytes: FloatArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that windows have told: sums over what the rest does not explain (x: remote bytes, y: busy seconds).

    `rows` counts degrees of freedom; `busy_s` and `remote_bytes` are the readers', for the bound.
    """

    rows: float = 0.0
    xx: float = 0.0
    xy: float = 0.0
    yy: float = 0.0
    busy_s: float = 0.0
    remote_bytes: float = 0.0


def learned(before: Evidence, reading: Reading) -> Evidence:
    """The evidence with one more window."""
    found = [_of_operator(reading, reading.operator == one) for one in np.unique(reading.operator)]
    share = _telling(before, sum(one.xx for one in found))
    keep = 1.0 - (1.0 - KEEP) * share
    return Evidence(
        **{
            field.name: keep * getattr(before, field.name) + share * sum(getattr(one, field.name) for one in found)
            for field in dataclasses.fields(Evidence)
        }
    )


def _telling(before: Evidence, xx: float) -> float:
    """How much a window counts, 0 to 1: 1 where it tells as much of the cost as those before did, on average.

    Windows that are all like each other add up to one's sum over 1 - KEEP.
    """
    usual = (1.0 - KEEP) * before.xx
    return 1.0 if xx >= usual else xx / usual


def seconds_per_byte(evidence: Evidence) -> float:
    """Busy seconds that a remote byte costs its reader, at least; 0.0 while that is not certain."""
    if evidence.rows < LEAST_ROWS or evidence.xx <= 0.0 or evidence.remote_bytes <= 0.0:
        return 0.0
    best = evidence.xy / evidence.xx
    left = max(evidence.yy - best * evidence.xy, 0.0)
    error = float(np.sqrt(left / (evidence.rows - 1.0) / evidence.xx))
    most = MOST_SHARE * evidence.busy_s / evidence.remote_bytes
    return float(np.clip(best - DEVIATIONS * error, 0.0, most))


def _of_operator(reading: Reading, rows: BoolArray) -> Evidence:
    chosen = np.flatnonzero(rows)
    chosen = chosen[:: max(1, -(-chosen.size // MOST_ROWS))]
    busy, remote = reading.busy_s[chosen], reading.remote_bytes[chosen]
    known = _explaining(reading, chosen)
    rank = int(np.linalg.matrix_rank(known)) if chosen.size else 0
    if chosen.size <= rank + 1:
        return Evidence()
    targets = np.column_stack([remote, busy])
    x, y = (targets - known @ np.linalg.lstsq(known, targets, rcond=None)[0]).T
    # What rounding leaves of remote bytes that the rest explains wholly is no evidence.
    sure = float(x @ x) > 1e-12 * float(remote @ remote)
    return Evidence(
        rows=float(chosen.size - rank) if sure else 0.0,
        xx=float(x @ x) if sure else 0.0,
        xy=float(x @ y) if sure else 0.0,
        yy=float(y @ y) if sure else 0.0,
        busy_s=float(busy.sum()),
        remote_bytes=float(remote.sum()),
    )


def _explaining(reading: Reading, chosen: IntArray) -> FloatArray:
    """What explains busy seconds beside remote bytes: a task's fixed time, records, bytes, and each executor's pace."""
    records = _scaled(reading.records[chosen])
    columns = [np.ones(chosen.size), records, _scaled(reading.total_bytes[chosen])]
    nodes, of_row = np.unique(reading.node_of[chosen], return_inverse=True)
    # Each executor takes a column; with few key groups on each there would be nothing left to learn from.
    if nodes.size > 1 and chosen.size >= 4 * (nodes.size + len(columns)):
        pace = np.zeros((chosen.size, nodes.size))
        pace[np.arange(chosen.size), of_row] = records
        return np.column_stack([*columns, pace[:, 1:]])
    return np.column_stack(columns)


def _scaled(values: FloatArray) -> FloatArray:
    top = float(values.max(initial=0.0))
    return values / top if top > 0.0 else values
