"""The probe's text about a query's plan (see Shape.java and Shapes.java) as the wire form's values."""

from __future__ import annotations

from collections.abc import Iterator

from streamjob_agent.plan_form import KeyColumn, PlanLink, PlanOperator, PlanShuffle, QueryPlan


def read_plan(text: str, query_id: str, name: str | None) -> QueryPlan | None:
    """None before the first batch has ended. Lines: O operator, X shuffle, L link, M state bytes, B sums."""
    rows = [line.split("\t") for line in text.split("\n")]  # other ends of lines may stand in names of the job's
    counts = next((row for row in rows if row[0] == "B"), ["B", "0"])
    batches = int(counts[1])
    if batches == 0:
        return None
    sums = iter([None if int(cell) < 0 else int(cell) / batches for cell in counts[2:]])
    operators: dict[int, PlanOperator] = {}
    shuffles: list[PlanShuffle] = []
    state_bytes: dict[int, float | None] = {}
    for row in rows:
        if row[0] == "O":
            operators[int(row[1])] = _operator(row)
        elif row[0] == "X":
            shuffles.append(_shuffle(row, sums))
        elif row[0] == "M":
            state_bytes[int(row[1])] = next(sums)
    return QueryPlan(
        query_id=query_id,
        name=name,
        batches=batches,
        operators=tuple(_with_state(one, state_bytes.get(number)) for number, one in sorted(operators.items())),
        shuffles=tuple(shuffles),
        links=tuple(_link(row) for row in rows if row[0] == "L"),
    )


def _operator(row: list[str]) -> PlanOperator:
    return PlanOperator(operator=int(row[1]), kind=row[2], partitions=int(row[3]), key=_key(row[4:]))


def _with_state(one: PlanOperator, state_bytes: float | None) -> PlanOperator:
    return PlanOperator(
        operator=one.operator, kind=one.kind, partitions=one.partitions, key=one.key, state_bytes=state_bytes
    )


def _shuffle(row: list[str], sums: Iterator[float | None]) -> PlanShuffle:
    size_bytes, records, write_ns, wait_ms, rows_before = (next(sums) for _ in range(5))
    return PlanShuffle(
        shuffle=int(row[1]),
        operator=_number(row[2]),
        feeds=_number(row[3]),
        key=_key(row[4:]),
        size_bytes=size_bytes,
        records=records,
        write_s=None if write_ns is None else write_ns / 1e9,
        wait_s=None if wait_ms is None else wait_ms / 1e3,
        rows_before_sums=rows_before,
    )


def _link(row: list[str]) -> PlanLink:
    return PlanLink(source=int(row[1]), target=_number(row[2]), shuffle=_number(row[3]))


def _number(cell: str) -> int | None:
    return int(cell) if cell and int(cell) >= 0 else None


def _key(cells: list[str]) -> tuple[KeyColumn, ...]:
    pairs = (cell.partition("=") for cell in cells if cell)
    return tuple(KeyColumn(number=int(number), name=name) for number, _, name in pairs)
