"""From a query's plan to advice: components by an adviser, on the bytes that its shuffles were measured to carry.

Adaptation is left out of the cost: what moving would cost under a key that nobody has used yet cannot be measured, and
under the model that can be (state times a share) every plan of components costs the same. A rewrite tells the state
that will move together instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from streamjob_planners.advice import registry
from streamjob_planners.advice.values import Advice, AsRows, JobPlan, Need, Operator, Rewrite, Shuffle, ShuffleNote
from streamjob_planners.components.graph import OperatorGraph, Stream

TIME_COLUMNS = ("window", "session_window")
"""Columns that rows are better not spread by: all rows of the newest window would go to a few partitions."""


def advise(plan: JobPlan, adviser: str = registry.DEFAULT) -> Advice:
    """Advice; raises ValueError when links or shuffles name operators that are not there, or for an unknown adviser."""
    keyed = [one for one in plan.operators if one.key]
    components = _components(plan, keyed, registry.get(adviser))
    by_number = {one.number: one for one in plan.operators}
    home = {number: place for place, members in enumerate(components) for number in members}
    notes = tuple(ShuffleNote(shuffle=one, need=_need(one, by_number, home)) for one in plan.shuffles)
    rewrites = [_left_out(note.shuffle) for note in notes if note.need is Need.TWICE]
    for members in components:
        inside = [n.shuffle for n in notes if n.need in (Need.ORDER, Need.SHARED) and n.shuffle.target in members]
        if inside:
            rewrites.append(_alike(plan, [by_number[one] for one in members], inside))
    rewrites.sort(key=lambda one: -(one.likely_bytes or 0.0))
    return Advice(components=components, notes=notes, rewrites=tuple(rewrites))


def _components(plan: JobPlan, keyed: list[Operator], adviser: registry.Adviser) -> tuple[tuple[int, ...], ...]:
    """Operators to key alike, by number; equally many partitions count as one more thing that keys must share."""
    place = {one.number: index for index, one in enumerate(keyed)}
    keys = tuple(frozenset(f"{one.partitions} {column}" for column in one.key) for one in keyed)
    loads: dict[tuple[int, int], float] = {}
    for shuffle in plan.shuffles:
        for source in shuffle.sources:
            if source in place and shuffle.target in place:
                pair = place[source], place[shuffle.target]
                loads[pair] = loads.get(pair, 0.0) + (shuffle.size_bytes or 0.0) / len(shuffle.sources)
    for source, target in plan.together:
        if source in place and target in place and source != target:
            loads.setdefault((place[source], place[target]), 0.0)
    streams = tuple(Stream(source=s, target=t, load=1.0 + load) for (s, t), load in sorted(loads.items()))
    if not keyed:
        return ()
    found = adviser(OperatorGraph(keys=keys, streams=streams))
    return tuple(tuple(sorted(keyed[index].number for index in members)) for members in found)


def _need(shuffle: Shuffle, by_number: Mapping[int, Operator], home: Mapping[int, int]) -> Need:
    if shuffle.feeds is not None:
        return Need.TWICE
    if shuffle.target is None or not shuffle.sources:
        return Need.SINK if shuffle.target is None else Need.FIRST
    ends = [by_number[one] for one in (*shuffle.sources, shuffle.target)]
    if not all(one.key for one in ends):
        return Need.NO_KEY
    if not frozenset.intersection(*(frozenset(one.key) for one in ends)):
        return Need.APART
    if len({home[one.number] for one in ends}) > 1:
        return Need.ELSEWHERE
    return Need.ORDER if len({frozenset(one.key) for one in ends}) == 1 else Need.SHARED


def _left_out(shuffle: Shuffle) -> Rewrite:
    return Rewrite(
        need=Need.TWICE,
        operators=(),
        shuffles=(shuffle.number,),
        columns=(),
        saved_bytes=shuffle.size_bytes,
        saved_s=shuffle.seconds,
    )


def _alike(plan: JobPlan, members: list[Operator], inside: list[Shuffle]) -> Rewrite:
    numbers = tuple(one.number for one in members)
    left_out = tuple(one.number for one in inside)
    states = _total(one.state_bytes for one in members)
    saved, seconds = _total(one.size_bytes for one in inside), _total(one.seconds for one in inside)
    if len({frozenset(one.key) for one in members}) == 1:
        first = next(one for one in members if any(one.number in shuffle.sources for shuffle in inside))
        return Rewrite(
            need=Need.ORDER,
            operators=numbers,
            shuffles=left_out,
            columns=first.key,
            saved_bytes=saved,
            saved_s=seconds,
            state_bytes=states,
        )
    columns = _spread_by(members)
    outside = [one for one in plan.shuffles if one.target in numbers and one.number not in left_out]
    by_more = {one.number for one in members if set(one.key) != set(columns)}
    return Rewrite(
        need=Need.SHARED,
        operators=numbers,
        shuffles=left_out,
        columns=columns,
        before=tuple(sorted({one.target for one in outside if one.target in by_more and one.target is not None})),
        saved_bytes=saved,
        saved_s=seconds,
        as_rows=_as_rows([one for one in outside if one.target in by_more]),
        state_bytes=states,
    )


def _spread_by(members: list[Operator]) -> tuple[str, ...]:
    """The columns that all share, without those of time where others are left, in the order of the first operator."""
    shared = frozenset.intersection(*(frozenset(one.key) for one in members))
    columns = tuple(column for column in members[0].key if column in shared)
    return tuple(column for column in columns if column not in TIME_COLUMNS) or columns


def _as_rows(shuffles: Iterable[Shuffle]) -> AsRows | None:
    """What these carry when rows are written as they are; None where no sums are known to be written now."""
    told = [(one.rows_before_sums, one.records, one.size_bytes) for one in shuffles]
    counted = [(rows, sums, size) for rows, sums, size in told if rows and sums and size]
    if not counted:
        return None
    rows, sums, size_bytes = (sum(column) for column in zip(*counted, strict=True))
    return AsRows(rows=rows, sums=sums, sums_bytes=size_bytes)


def _total(values: Iterable[float | None]) -> float | None:
    """The sum of what is known; None when nothing is."""
    known = [one for one in values if one is not None]
    return sum(known) if known else None
