"""What controller and agent say to each other: versioned, plain dataclasses, JSON on the wire.

The controller writes an :class:`Assignment`, the agent alone writes an :class:`AgentStatus`. Only the standard
library is used, because this module runs in the user's Spark driver.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from streamjob_agent import kinds
from streamjob_agent.kinds import (
    CORES,
    EXECUTOR_IDS,
    EXECUTORS,
    LIST,
    OBJECT,
    SECONDS,
    SENTENCE,
    TEXT,
    WHOLE,
    Kind,
    bound,
    expect,
    shown,
)
from streamjob_agent.packed import pack_map, pack_places, unpack_map, unpack_places

WIRE_VERSION = 1
NOT_YET = ("NotAttached", "Attaching", "Starting")
"""The agent's reasons not to act before its self-test has run, which say nothing about what it can do."""
STATES = ("Ok", *NOT_YET, "SparkConnectClient", "AttachFailed", "SelfTestFailed", "CallsFail", "Stuck")
"""All its reasons. A newer agent may have more."""
MOST_REPORTED = 1_000_000
"""Key groups of all queries of a status together; a message of a few bytes must not fill anybody's memory."""
T = TypeVar("T")
WireError = kinds.WireError
MOST_CORES, MOST_GROUPS, MOST_OPERATORS = kinds.MOST_CORES, kinds.MOST_GROUPS, kinds.MOST_OPERATORS


class GroupKey(NamedTuple):
    """One key group: a state store partition of a stateful operator of one query.

    A tuple, since it is the key of every table: hashed and compared many times for each group of each batch.
    """

    operator: int
    partition: int

    def __str__(self) -> str:
        return f"{self.operator}/{self.partition}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How much may move at one batch boundary; None is no limit. At least one move is always allowed."""

    max_moves: int | None = None
    max_state_bytes: int | None = None
    max_cost_s: float | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Where the controller wants every key group, and which executors should exist.

    Attributes:
        generation: grows by one with each assignment of a job; an older one is refused.
        application_id: Spark's application id the plan was made for. Executor ids start anew with each driver, so
            an assignment for another application is refused as stale (and used only as a hint for placement).
        query_id: the query's id, stable over restarts from one checkpoint.
        executors_target: executors that should exist; None leaves the number alone.
        marked_for_removal: executors that receive no key group and are being drained.
        remove: marked executors that leave now; the agent refuses one that still holds key groups.
        owners: operator -> the executor of each partition, index = partition; None leaves that group where it is.
            Without any operator the moves and arrivals of the assignment before go on as they are.
        arrivals: operator -> for each partition the place of the coming executor that shall own it, None for those that
            go to none; until it is there the group is where `owners` says. Place 1 is the first one to be ready that is
            not in `known_executors`, 2 the second. Moves to them count for `move_order`, `move_cost_s` and `pace`, too.
        known_executors: executors that the controller knew when it gave out the places.
        next_start: operator -> for each partition the place of the executor that shall own it when a driver starts
            again, from 1; key groups of one place are on one executor. Empty: as `owners` has them.
        move_order: key groups in the order in which they should move; the rest follow by operator and partition.
        move_cost_s: expected extra seconds of each group's first task after its move, for pacing.
        pace: limits for each batch boundary.
    """

    generation: int
    application_id: str
    query_id: str
    executors_target: int | None = None
    marked_for_removal: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    owners: Mapping[int, tuple[str | None, ...]] = dataclasses.field(default_factory=dict)
    arrivals: Mapping[int, tuple[int | None, ...]] = dataclasses.field(default_factory=dict)
    known_executors: tuple[str, ...] = ()
    next_start: Mapping[int, tuple[int | None, ...]] = dataclasses.field(default_factory=dict)
    move_order: tuple[GroupKey, ...] = ()
    move_cost_s: Mapping[GroupKey, float] = dataclasses.field(default_factory=dict)
    pace: Pace = dataclasses.field(default_factory=Pace)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorStatus:
    """One executor as the driver sees it. `state` is ready, draining (marked), leaving or dead.

    To a leaving one Spark offers no task: it was decommissioned, or is excluded for a while and will be ready again.
    `groups`: key groups that ran there last or are registered there; it may be removed once there are none.
    """

    executor_id: str
    host: str
    cores: int
    state: str
    groups: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Unusual:
    """A batch that took longer or shorter than usual, as the one before it did; seconds, and the range until then.

    `ended_at_s` is when it ended by the driver's clock, seconds since 1970.
    """

    batch_id: int
    ended_at_s: float
    seconds: float
    low_s: float
    high_s: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Risen:
    """A batch that had more rows than usual before it ended, as the one before it did; how many batches had at most.

    `began_at_s` is when it began by the driver's clock, seconds since 1970.
    """

    batch_id: int
    began_at_s: float
    rows: int
    high_rows: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QueryStatus:
    """One streaming query: where its key groups are, and the progress of the moves asked for.

    A group is where its newest task ran; where that executor is gone, where its next task will run. `arrived` are the
    executors that took the places of the plan's arrivals, in their order; `moves_awaiting` are moves to those that have
    not come. `unusual` is the newest batch that was one, None where batches have taken what they usually do since key
    groups moved last; `risen` the newest one that was so in this run of the driver.
    """

    query_id: str
    run_id: str
    name: str | None
    batch_id: int | None
    owners: Mapping[int, tuple[str | None, ...]]
    moves_pending: int = 0
    moves_done: int = 0
    moves_failed: int = 0
    moves_awaiting: int = 0
    arrived: tuple[str, ...] = ()
    unusual: Unusual | None = None
    risen: Risen | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AgentStatus:
    """What the agent reports: read by the controller, written by the agent alone.

    `actuation` is "on" or "off"; when off, `reason` is a stable code and `message` a sentence for a person.
    `refused` tells why the newest assignment was not taken (None when it was).
    """

    agent_version: str
    spark_version: str
    application_id: str
    now_s: float
    actuation: str
    reason: str
    message: str
    generation_applied: int | None
    refused: str | None
    executors: tuple[ExecutorStatus, ...]
    queries: tuple[QueryStatus, ...]
    self_test: Mapping[str, str] = dataclasses.field(default_factory=dict)
    errors_total: int = 0


def assignment_to_json(assignment: Assignment) -> str:
    """One line of JSON."""
    return _dump(
        assignment,
        owners=pack_map(assignment.owners),
        arrivals=pack_places(assignment.arrivals),
        next_start=pack_places(assignment.next_start),
        move_order=[str(key) for key in assignment.move_order],
        move_cost_s={str(key): cost for key, cost in assignment.move_cost_s.items()},
    )


def assignment_from_json(text: str | bytes) -> Assignment:
    """Read what :func:`assignment_to_json` wrote; raises WireError with a sentence on anything else."""
    bound(text)
    fields = _load(text, Assignment)
    expect(fields, _ASSIGNMENT_KINDS)
    fields["owners"] = unpack_map(fields.get("owners", {}))
    for name in ("arrivals", "next_start"):
        fields[name] = unpack_places(fields.get(name, {}))
    fields["move_order"] = tuple(_group_key(key) for key in fields.get("move_order", ()))
    costs = fields.get("move_cost_s", {})
    expect(costs, dict.fromkeys(costs, SECONDS), "move_cost_s, ")
    fields["move_cost_s"] = {_group_key(key): float(cost) for key, cost in costs.items()}
    expect(fields.get("pace", {}), _PACE_KINDS, "pace, ")
    fields["pace"] = _build(Pace, fields.get("pace", {}))
    for name in ("marked_for_removal", "remove", "known_executors"):
        fields[name] = _executors(fields.get(name, ()), name)
    return _build(Assignment, fields)


def status_to_json(status: AgentStatus) -> str:
    """One line of JSON."""
    queries = [{**_plain(query), "owners": pack_map(query.owners)} for query in status.queries]
    return _dump(status, queries=queries)


def status_from_json(text: str | bytes) -> AgentStatus:
    """Read what :func:`status_to_json` wrote, without what only a newer agent knows; raises WireError otherwise."""
    fields = _known(AgentStatus, _load(text, AgentStatus))
    expect(fields, _STATUS_KINDS)
    tested = fields.get("self_test", {})
    expect(tested, dict.fromkeys(tested, SENTENCE), "self_test, ")
    executors = (_object(one, "executors") for one in fields.get("executors", ()))
    fields["executors"] = tuple(_typed(ExecutorStatus, one, _EXECUTOR_KINDS, "executors, ") for one in executors)
    fields["queries"] = tuple(_queries(fields.get("queries", ())))
    return _build(AgentStatus, fields)


def _queries(given: Iterable[Any]) -> Iterator[QueryStatus]:
    left = MOST_REPORTED
    for query in given:
        expect(_object(query, "queries"), {"owners": OBJECT}, "queries, ")
        owners = unpack_map(query.get("owners", {}), left)
        left -= sum(map(len, owners.values()))
        told = {"arrived": _executors(_list(query, "arrived"), "arrived")}
        news = {name: _news(query, name, *form) for name, form in _NEWS.items()}
        yield _typed(QueryStatus, {**query, "owners": owners, **told, **news}, _QUERY_KINDS, "queries, ")


def _typed(kind: type[T], given: Mapping[str, Any], kinds: Mapping[str, Kind], where: str) -> T:
    """What a newer agent tells beside it is left out."""
    fields = _known(kind, given)
    expect(fields, kinds, where)
    return _build(kind, fields)


def _list(fields: Mapping[str, Any], name: str) -> Sequence[Any]:
    expect(fields, {name: EXECUTOR_IDS})
    found: Sequence[Any] = fields.get(name, ())
    return found


def _news(query: Mapping[str, Any], name: str, kind: type[T], kinds: Mapping[str, Kind]) -> T | None:
    given = query.get(name)
    return None if given is None else _typed(kind, _object(given, name), kinds, f"{name}, ")


def _known(kind: type, fields: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in dataclasses.fields(kind)}
    return {name: content for name, content in fields.items() if name in names}


def _plain(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _dump(value: Any, **replaced: Any) -> str:
    document = {"version": WIRE_VERSION, **_plain(value), **replaced}
    return json.dumps(document, separators=(",", ":"), default=_plain)


def _load(text: str | bytes, kind: type) -> dict[str, Any]:
    try:
        document = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise WireError(f"{kind.__name__}: not JSON: {error}") from error
    if not isinstance(document, dict):
        raise WireError(f"{kind.__name__}: {type(document).__name__} given, a JSON object is needed")
    version = document.pop("version", None)
    if version != WIRE_VERSION:
        raise WireError(f"version: {version!r} given, this side speaks {WIRE_VERSION}")
    return document


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


_ASSIGNMENT_KINDS: Mapping[str, Kind] = {
    "generation": WHOLE,
    "application_id": TEXT,
    "query_id": TEXT,
    "executors_target": EXECUTORS.or_null(),
    "marked_for_removal": EXECUTOR_IDS,
    "remove": EXECUTOR_IDS,
    "owners": OBJECT,
    "arrivals": OBJECT,
    "known_executors": EXECUTOR_IDS,
    "next_start": OBJECT,
    "move_order": LIST,
    "move_cost_s": OBJECT,
    "pace": OBJECT,
}
_PACE_KINDS: Mapping[str, Kind] = {
    "max_moves": WHOLE.or_null(),
    "max_state_bytes": WHOLE.or_null(),
    "max_cost_s": SECONDS.or_null(),
}
_TIME = dataclasses.replace(SECONDS, most=10.0**12)
_UNUSUAL_KINDS: Mapping[str, Kind] = {
    "batch_id": WHOLE,
    **dict.fromkeys(("seconds", "low_s", "high_s"), SECONDS),
    "ended_at_s": _TIME,
}
_RISEN_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("batch_id", "rows", "high_rows"), WHOLE),
    "began_at_s": _TIME,
}
_NEWS: Mapping[str, tuple[type[Any], Mapping[str, Kind]]] = {
    "unusual": (Unusual, _UNUSUAL_KINDS),
    "risen": (Risen, _RISEN_KINDS),
}
_EXECUTOR_KINDS: Mapping[str, Kind] = {
    "executor_id": TEXT,
    "host": TEXT,
    "cores": CORES,
    "state": TEXT,
    "groups": WHOLE,
}
_QUERY_KINDS: Mapping[str, Kind] = {
    "query_id": TEXT,
    "run_id": TEXT,
    "name": SENTENCE.or_null(),
    "batch_id": WHOLE.or_null(),
    **dict.fromkeys(("moves_pending", "moves_done", "moves_failed", "moves_awaiting"), WHOLE),
}
_STATUS_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("agent_version", "spark_version", "reason", "message"), SENTENCE),
    "application_id": TEXT,
    "now_s": _TIME,
    "actuation": TEXT,
    "generation_applied": WHOLE.or_null(),
    "refused": SENTENCE.or_null(),
    "executors": LIST,
    "queries": LIST,
    "self_test": OBJECT,
    "errors_total": WHOLE,
}


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WireError(f"{where}: {shown(value)} given, an object is needed")
    return value


def _build(kind: type[T], fields: Mapping[str, Any]) -> T:
    known = dataclasses.fields(kind)  # type: ignore[arg-type]  # every kind of a message is a dataclass
    for one in known:
        if one.name not in fields and one.default is one.default_factory is dataclasses.MISSING:
            raise WireError(f"{one.name}: absent, {kind.__name__} needs it")
    strangers = sorted(set(fields) - {one.name for one in known})
    if strangers:
        raise WireError(f"{strangers[0][:80]}: there is no such field in {kind.__name__}")
    return kind(**fields)


def _executors(names: Sequence[Any], where: str) -> tuple[str, ...]:
    expect({str(i): name for i, name in enumerate(names)}, {str(i): TEXT for i in range(len(names))}, f"{where}, ")
    return tuple(names)


def _group_key(text: Any) -> GroupKey:
    operator, _, partition = text.partition("/") if isinstance(text, str) else ("", "", "")
    if not (operator.isdecimal() and partition.isdecimal()) or len(text) > 40:
        raise WireError(f"key group: {shown(text)} is not OPERATOR/PARTITION, two whole numbers")
    return GroupKey(operator=int(operator), partition=int(partition))
