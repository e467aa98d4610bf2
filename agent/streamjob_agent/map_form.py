"""How an assignment and a status look inside a PartitionMap: spec and status of the Kubernetes object. Pure.

Several queries of a driver share one spec, see `map_plan`.

Field names are those of `wire`, in camel case, seconds as `...Seconds`; absent fields are None or empty. What grows
with the number of key groups is short text, so that 100,000 key groups stay below etcd's limit for one object:

- owners, per operator: `0*3,2,-*2`, see :func:`streamjob_agent.packed.pack_owners`; arrivals
  and nextStart, with places, likewise;
- `moveOrder` and `moveCostSeconds`, see `map_moves`;
- any such text above 16 KiB is `z:` and the base64 of its zlib stream.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from streamjob_agent.kinds import WireError
from streamjob_agent.map_moves import costs_text, order_text, read_costs, read_order
from streamjob_agent.packed import pack_map, pack_places
from streamjob_agent.wire import (
    WIRE_VERSION,
    AgentStatus,
    Assignment,
    ExecutorStatus,
    QueryStatus,
    assignment_from_json,
    status_from_json,
)

FORM = 1
"""Of the spec; an absent one is 1."""
PLAIN_BYTES = 16 * 1024  # longer text is compressed
# Of all owners, or of another text, once unpacked; a small object must not fill the driver's memory.
_MOST_BYTES = 4 * 2**20
_ZIPPED = "z:"
SPEC_NAMES = {
    "generation": "generation",
    "applicationId": "application_id",
    "queryId": "query_id",
    "executorsTarget": "executors_target",
    "markedForRemoval": "marked_for_removal",
    "remove": "remove",
    "owners": "owners",
    "arrivals": "arrivals",
    "knownExecutors": "known_executors",
    "nextStart": "next_start",
    "moveOrder": "move_order",
    "moveCostSeconds": "move_cost_s",
    "pace": "pace",
}
_PACKED = (  # not written as they are
    "marked_for_removal",
    "remove",
    "owners",
    "arrivals",
    "known_executors",
    "next_start",
    "move_order",
    "move_cost_s",
    "pace",
)
PACE_NAMES = {"maxMoves": "max_moves", "maxStateBytes": "max_state_bytes", "maxCostSeconds": "max_cost_s"}
_STATUS_NAMES = {
    "agentVersion": "agent_version",
    "sparkVersion": "spark_version",
    "applicationId": "application_id",
    "nowSeconds": "now_s",
    "actuation": "actuation",
    "reason": "reason",
    "message": "message",
    "generationApplied": "generation_applied",
    "refused": "refused",
    "executors": "executors",
    "queries": "queries",
    "selfTest": "self_test",
    "errorsTotal": "errors_total",
}
_NULLABLE_STATUS = ("generation_applied", "refused")
_EXECUTOR_NAMES = {"id": "executor_id", "host": "host", "cores": "cores", "state": "state", "groups": "groups"}
_QUERY_NAMES = {
    "queryId": "query_id",
    "runId": "run_id",
    "name": "name",
    "batchId": "batch_id",
    "owners": "owners",
    "movesPending": "moves_pending",
    "movesDone": "moves_done",
    "movesFailed": "moves_failed",
    "movesAwaiting": "moves_awaiting",
    "arrived": "arrived",
}
_UNUSUAL_NAMES = {
    "batchId": "batch_id",
    "endedAtSeconds": "ended_at_s",
    "seconds": "seconds",
    "lowSeconds": "low_s",
    "highSeconds": "high_s",
}
_RISEN_NAMES = {"batchId": "batch_id", "beganAtSeconds": "began_at_s", "rows": "rows", "highRows": "high_rows"}
_NEWS_NAMES = {"unusual": _UNUSUAL_NAMES, "risen": _RISEN_NAMES}


def assignment_to_spec(assignment: Assignment) -> dict[str, Any]:
    """The spec of a PartitionMap. Raises WireError when a cost belongs to a group that `move_order` does not name."""
    order = assignment.move_order
    strangers = sorted(assignment.move_cost_s.keys() - set(order))
    if strangers:
        raise WireError(
            f"move_cost_s: {strangers[0]} is not in move_order; costs are written in the order of the moves"
        )
    spec = _given(assignment, {name: field for name, field in SPEC_NAMES.items() if field not in _PACKED})
    spec["markedForRemoval"], spec["remove"] = list(assignment.marked_for_removal), list(assignment.remove)
    spec["owners"] = _zip_map(pack_map(assignment.owners))
    if assignment.arrivals:
        spec["arrivals"] = _zip_map(pack_places(assignment.arrivals))
        spec["knownExecutors"] = list(assignment.known_executors)
    if assignment.next_start:
        spec["nextStart"] = _zip_map(pack_places(assignment.next_start))
    spec["moveOrder"] = _zip(order_text(order))
    spec["moveCostSeconds"] = _zip(costs_text(order, assignment.move_cost_s)) if assignment.move_cost_s else ""
    # Left out and not empty: where it had fields before, server-side apply would make null of an empty object.
    if pace := _given(assignment.pace, PACE_NAMES):
        spec["pace"] = pace
    return spec


def assignment_from_spec(spec: Mapping[str, Any]) -> Assignment:
    """Inverse of :func:`assignment_to_spec`, costs rounded; raises WireError with a sentence on anything else.

    Fields of a newer operator are left out; where that would be wrong, `form` says so.
    """
    form = spec.get("form", FORM)
    if form != FORM:
        raise WireError(f"form: {str(form)[:80]!r} given, this version of the agent reads {FORM}")
    fields = _renamed(spec, SPEC_NAMES)
    order = read_order(_unzip(fields.get("move_order", ""), "moveOrder"))
    costs = read_costs(_unzip(fields.get("move_cost_s", ""), "moveCostSeconds"), order)
    fields["move_order"] = [str(key) for key in order]
    fields["move_cost_s"] = {str(key): cost for key, cost in costs.items()}
    fields["owners"] = _unzip_map(fields.get("owners", {}))
    fields["arrivals"] = _unzip_map(fields.get("arrivals", {}), where="arrivals")
    fields["next_start"] = _unzip_map(fields.get("next_start", {}), where="nextStart")
    fields["pace"] = _renamed(_object(fields.get("pace", {}), "pace"), PACE_NAMES)
    return assignment_from_json(_document(fields))


def status_to_map(status: AgentStatus) -> dict[str, Any]:
    """The status of a PartitionMap, without what is None: server-side apply takes away what is no longer there."""
    fields = _given(status, _STATUS_NAMES)
    fields["selfTest"] = dict(status.self_test)
    fields["executors"] = [_given(executor, _EXECUTOR_NAMES) for executor in status.executors]
    fields["queries"] = [_query(query) for query in status.queries]
    return fields


def _query(query: QueryStatus) -> dict[str, Any]:
    plain = _given(query, _QUERY_NAMES)
    fields = {**plain, "owners": _zip_map(pack_map(query.owners)), "arrived": list(query.arrived)}
    news = ((name, getattr(query, name), names) for name, names in _NEWS_NAMES.items())
    return {**fields, **{name: _given(one, names) for name, one, names in news if one is not None}}


def status_from_map(fields: Mapping[str, Any]) -> AgentStatus:
    """Inverse of :func:`status_to_map`; fields of a newer agent are skipped; raises WireError with a sentence."""
    known = {field: fields[name] for name, field in _STATUS_NAMES.items() if name in fields}
    document = {**dict.fromkeys(_NULLABLE_STATUS), **known}
    document["executors"] = [_known(one, _EXECUTOR_NAMES, ExecutorStatus) for one in _list(fields, "executors")]
    document["queries"] = list(_queries(_list(fields, "queries")))
    return status_from_json(_document(document))


def _queries(given: Iterable[Any]) -> Iterator[dict[str, Any]]:
    left = _MOST_BYTES
    for one in given:
        query = _known(one, _QUERY_NAMES, QueryStatus)
        owners = _unzip_map(query.get("owners") or {}, left)
        left -= sum(map(len, owners.values()))
        told = _object(one, "status")
        news = {name: _told(told.get(name), name, names) for name, names in _NEWS_NAMES.items()}
        yield {**query, "owners": owners, **news}


def _told(news: Any, name: str, names: Mapping[str, str]) -> dict[str, Any] | None:
    return None if news is None else _renamed(_object(news, name), names)


def _given(value: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """The value's fields under their names in the map, without those that are None."""
    pairs = ((name, getattr(value, field)) for name, field in names.items())
    return {name: content for name, content in pairs if content is not None}


def _renamed(fields: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names[name]: content for name, content in fields.items() if content is not None and name in names}


def _known(given: Any, names: Mapping[str, str], kind: type) -> dict[str, Any]:
    fields = {field: None for field in ("name", "batch_id") if kind is QueryStatus}
    return {**fields, **{names[name]: content for name, content in _object(given, "status").items() if name in names}}


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise WireError(f"{where}: {str(value)[:80]!r} given, an object is needed")
    return value


def _list(fields: Mapping[str, Any], name: str) -> Iterable[Any]:
    found = fields.get(name) or ()
    if not isinstance(found, (list, tuple)):
        raise WireError(f"{name}: {str(found)[:80]!r} given, a list is needed")
    return found


def _document(fields: Mapping[str, Any]) -> str:
    """The same message as JSON of the wire: one reader, hence one set of checks, for both ways."""
    try:
        return json.dumps({"version": WIRE_VERSION, **fields})
    except (TypeError, ValueError) as error:
        raise WireError(f"not a plain object: {error}") from error


def _zip_map(rows: Mapping[str, str]) -> dict[str, str]:
    return {operator: _zip(row) for operator, row in rows.items()}


def _unzip_map(packed: Any, left: int = _MOST_BYTES, where: str = "owners") -> dict[str, str]:
    plain: dict[str, str] = {}
    for operator, row in _object(packed, where).items():
        plain[str(operator)] = _unzip(row, f"{where}, {str(operator)[:80]}", left)
        left -= len(plain[str(operator)])
    return plain


def _zip(text: str) -> str:
    if len(text) <= PLAIN_BYTES:
        return text
    return _ZIPPED + base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _unzip(text: Any, where: str, most: int = _MOST_BYTES) -> str:
    if not isinstance(text, str):
        raise WireError(f"{where}: {str(text)[:80]!r} given, text is needed")
    if not text.startswith(_ZIPPED):
        return text
    try:
        stream = zlib.decompressobj()
        plain = stream.decompress(base64.b64decode(text[len(_ZIPPED) :], validate=True), max(1, most)).decode()
    except (ValueError, zlib.error) as error:  # of base64, where it holds other characters too, or of UTF-8
        raise WireError(f"{where}: text after 'z:' is not the base64 of a zlib stream: {error}") from error
    if not stream.eof:
        raise WireError(f"{where}: text after 'z:' is cut off, or longer, together, than {_MOST_BYTES} bytes")
    return plain
