"""What runs on nodes say: collocation, bytes on the wire and batch time at first and at the end, price and moves."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence
from typing import Any

from benchmarks.nodes.kept import Kept
from benchmarks.nodes.runs import MIB, Batch, Ran

COLD = 4
"""Batches at the begin that count nowhere: JVMs compile."""
LAST = 8
"""Batches at the end, once placements have settled."""
FIGURES = ("local_pct", "wire_mib", "remote_mib", "batch_s", "fetch_wait_s", "run_s", "moves", "price_s_per_mib")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One run at its end: means or medians of the last LAST batches, of all queries together."""

    local_pct: float
    wire_mib: float
    remote_mib: float
    batch_s: float
    fetch_wait_s: float
    run_s: float
    moves: int
    exact: bool
    price_s_per_mib: float | None


def row(ran: Ran) -> Row:
    """The figures of a run."""
    end = [one for some in by_query(ran).values() for one in some[-LAST:]]
    local, remote = sum(one.last_local_bytes for one in end), sum(one.last_remote_bytes for one in end)
    began_s, ended_s = min(one.began_at_s for one in end), max(one.began_at_s + one.took_s for one in end)
    prices = [one.remote_s_per_byte for one in ran.cycles]
    return Row(
        local_pct=100.0 * local / max(1, local + remote),
        wire_mib=crossed_mib(ran, began_s, ended_s) / LAST,
        remote_mib=sum(one.remote_bytes for one in end) / MIB / LAST,
        batch_s=statistics.median(one.took_s for one in end),
        fetch_wait_s=sum(one.fetch_wait_s for one in end) / LAST,
        run_s=sum(one.run_s for one in end) / LAST,
        moves=sum(one.moves for one in ran.cycles),
        exact=not ran.differences,
        price_s_per_mib=prices[-1] * MIB if prices else None,
    )


def by_query(ran: Ran) -> dict[str, list[Batch]]:
    """The batches of each query, in order."""
    found: dict[str, list[Batch]] = {}
    for one in ran.batches:
        found.setdefault(one.query, []).append(one)
    return found


def crossed_mib(ran: Ran, from_s: float, to_s: float) -> float:
    """What went from node to node between two moments, MiB."""
    return (_at(ran, to_s) - _at(ran, from_s)) / MIB


def _at(ran: Ran, at_s: float) -> float:
    """Bytes from node to node until then, between two readings as if they came evenly."""
    before = [one for one in ran.wire if one[0] <= at_s]
    after = [one for one in ran.wire if one[0] > at_s]
    if not before or not after:
        return float((before or after)[-1 if before else 0][1])
    (first_s, first), (then_s, then) = before[-1], after[0]
    return first + (then - first) * (at_s - first_s) / (then_s - first_s)


def limits(runs: Sequence[Kept]) -> list[dict[str, Any]]:
    """Each setting's mean, spread and trials over its rounds."""
    settings = dict.fromkeys((one.job, one.nodes, one.executors, one.mbit_s, one.system) for one in runs)
    found = []
    for job, nodes, executors, mbit_s, system in settings:
        where = (job, nodes, executors, mbit_s, system)
        own = [row(one.ran) for one in runs if (one.job, one.nodes, one.executors, one.mbit_s, one.system) == where]
        named = dict(zip(("job", "nodes", "executors", "mbit_s", "system"), where, strict=True))
        found.append({**named, **{name: _summed([getattr(one, name) for one in own]) for name in FIGURES}})
    return found


def _summed(values: Sequence[float | None]) -> dict[str, float] | None:
    known = [one for one in values if one is not None]
    if not known:
        return None
    mean, spread = round(statistics.fmean(known), 3), round(max(known) - min(known), 3)
    return {"mean": mean, "spread": spread, "trials": len(known)}


def report(runs: Sequence[Kept]) -> str:
    """A Markdown table, a row for each run."""
    head = (
        "| job | nodes x executors | Mbit/s | system | local, % | on the wire, MiB | Spark's remote bytes, MiB "
        "| batch, s | fetch wait, s | tasks, s | moves | price, s/MiB | answer |\n|" + "---|" * 13
    )
    return "\n".join([head, *(_line(one) for one in runs)])


def _line(one: Kept) -> str:
    found = row(one.ran)
    price = "-" if found.price_s_per_mib is None else f"{found.price_s_per_mib:.3f}"
    return (
        f"| {one.job} | {one.nodes} x {one.executors} | {one.mbit_s:g} | {one.system} | {found.local_pct:.0f} "
        f"| {found.wire_mib:.2f} | {found.remote_mib:.2f} | {found.batch_s:.2f} | {found.fetch_wait_s:.2f} "
        f"| {found.run_s:.2f} | {found.moves} | {price} | {'exact' if found.exact else 'WRONG'} |"
    )
