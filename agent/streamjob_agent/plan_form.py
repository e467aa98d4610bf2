"""What a query's plan looks like on the wire: its stateful operators, their keys, the shuffles between them.

Answers GET /v1/plans: read only, for advice to a person. Standard library only, since it runs in the user's driver.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from streamjob_agent.kinds import SENTENCE, TEXT, WHOLE, Kind, expect
from streamjob_agent.wire import WIRE_VERSION, WireError

T = TypeVar("T")
NAME = dataclasses.replace(SENTENCE, most=10_000)
"""Of a column, an operator or a query: people choose them."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KeyColumn:
    """A column of a key. Columns of one plan with one `number` have the same values, whatever their names."""

    number: int
    name: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PlanOperator:
    """A stateful operator: `kind` is Spark's name of it; `state_bytes` in memory after a batch, None if not told."""

    operator: int
    kind: str
    partitions: int
    key: tuple[KeyColumn, ...]
    state_bytes: float | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PlanShuffle:
    """A shuffle, with what it takes in a mean batch; None is "not told".

    Attributes:
        shuffle: its number in the plan.
        operator: the operator that it feeds, directly or through the shuffle `feeds`; None for the sink.
        feeds: the next shuffle, where no operator is between.
        key: the columns that rows are spread by; empty for another way than by a hash.
        size_bytes, records: what is written, compressed.
        write_s, wait_s: seconds of tasks for writing it, and for waiting for it.
        rows_before_sums: rows that were summed up, before they were shuffled, to `records`; None where rows are
            shuffled as they are.
    """

    shuffle: int
    operator: int | None
    feeds: int | None
    key: tuple[KeyColumn, ...]
    size_bytes: float | None = None
    records: float | None = None
    write_s: float | None = None
    wait_s: float | None = None
    rows_before_sums: float | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PlanLink:
    """Rows go from an operator to the next (None: the sink), through a shuffle or, where it is None, within a task."""

    source: int
    target: int | None
    shuffle: int | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QueryPlan:
    """One query's plan; means are over its newest `batches` batches on this plan."""

    query_id: str
    name: str | None
    batches: int
    operators: tuple[PlanOperator, ...]
    shuffles: tuple[PlanShuffle, ...]
    links: tuple[PlanLink, ...]


def plans_to_json(plans: Iterable[QueryPlan]) -> str:
    """One line of JSON."""
    document = {"version": WIRE_VERSION, "plans": [dataclasses.asdict(plan) for plan in plans]}
    return json.dumps(document, separators=(",", ":"))


def plans_from_json(text: str | bytes) -> tuple[QueryPlan, ...]:
    """Read what :func:`plans_to_json` wrote; raises WireError with a sentence on anything else."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"plans: not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("version") != WIRE_VERSION:
        given = document.get("version") if isinstance(document, dict) else type(document).__name__
        raise WireError(f"version: {given!r} given, this side speaks {WIRE_VERSION}")
    return tuple(_plan(one) for one in _rows(document, "plans"))


def _plan(document: dict[str, Any]) -> QueryPlan:
    parts = {
        "operators": tuple(_keyed(PlanOperator, one) for one in _rows(document, "operators")),
        "shuffles": tuple(_keyed(PlanShuffle, one) for one in _rows(document, "shuffles")),
        "links": tuple(_build(PlanLink, one) for one in _rows(document, "links")),
    }
    return _build(QueryPlan, {**document, **parts})


def _keyed(kind: type[T], document: dict[str, Any]) -> T:
    return _build(kind, {**document, "key": tuple(_build(KeyColumn, one) for one in _rows(document, "key"))})


def _rows(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    rows = document.get(name)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise WireError(f"{name}: {str(rows)[:80]!r} given, a list of objects is needed")
    return rows


_OR_NULL = WHOLE.or_null()
_AMOUNT = Kind(types=(int, float), words="a number of 0 or more", most=1e18).or_null()
_KINDS: Mapping[type, Mapping[str, Kind]] = {
    KeyColumn: {"number": WHOLE, "name": NAME},
    PlanOperator: {"operator": WHOLE, "kind": NAME, "partitions": WHOLE, "state_bytes": _AMOUNT},
    PlanShuffle: {
        "shuffle": WHOLE,
        "operator": _OR_NULL,
        "feeds": _OR_NULL,
        **dict.fromkeys(("size_bytes", "records", "write_s", "wait_s", "rows_before_sums"), _AMOUNT),
    },
    PlanLink: {"source": WHOLE, "target": _OR_NULL, "shuffle": _OR_NULL},
    QueryPlan: {"query_id": TEXT, "name": NAME.or_null(), "batches": WHOLE},
}


def _build(kind: type[T], fields: dict[str, Any]) -> T:
    """What a newer agent tells beside it is left out."""
    expect(fields, _KINDS[kind])
    known = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]  # all kinds are dataclasses
    try:
        return kind(**{name: value for name, value in fields.items() if name in known})
    except TypeError as error:
        raise WireError(f"{kind.__name__}: {error}") from error
