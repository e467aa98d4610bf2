"""Messages that nobody in good faith would send: each gets a sentence, and none fills the driver's memory."""

from __future__ import annotations

import base64
import http.client
import json
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from bare_status import bare_status
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjob_agent.map_form import assignment_from_spec
from streamjob_agent.server import MOST_BODY_BYTES, AgentServer
from streamjob_agent.wire import AgentStatus, Assignment, WireError, assignment_from_json, assignment_to_json

MOST_PEAK_BYTES = 160 * 2**20
GOOD: dict[str, Any] = {"version": 1, "generation": 1, "application_id": "a", "query_id": "q"}


def document(field: str, value: str, **more: str) -> bytes:
    fields = {**{name: json.dumps(one) for name, one in GOOD.items()}, field: value, **more}
    return ("{" + ",".join(f'"{name}":{text}' for name, text in fields.items()) + "}").encode()


def filled(piece: str) -> str:
    """As many of it as a body may hold."""
    return ",".join([piece] * ((MOST_BODY_BYTES - 500) // (len(piece) + 1)))


def many_operators(count: int) -> str:
    return "{" + ",".join(f'"{operator}":"0*999999"' for operator in range(count)) + "}"


LARGE: dict[str, Callable[[], bytes]] = {
    "a few bytes for many operators": lambda: document("owners", many_operators(19)),
    "many operators": lambda: document("owners", many_operators(200_000)),
    "owners one by one": lambda: document("owners", '{"0":"' + filled("0") + '"}'),
    "one long owner": lambda: document("owners", '{"0":"' + "0" * (MOST_BODY_BYTES - 500) + '"}'),
    "empty objects": lambda: document("remove", "[" + filled("{}") + "]"),
    "empty lists": lambda: document("move_order", "[" + filled("[]") + "]"),
    "short texts": lambda: document("marked_for_removal", "[" + filled('"7"') + "]"),
    "key groups": lambda: document("move_order", "[" + filled('"0/1"') + "]"),
    "costs": lambda: document("move_cost_s", "{" + ",".join(f'"0/{i}":1.5' for i in range(500_000)) + "}"),
    "long id": lambda: document("query_id", '"' + "q" * (MOST_BODY_BYTES - 500) + '"'),
    "digits": lambda: document("generation", "9" * (MOST_BODY_BYTES - 500)),
    "deep": lambda: b"[" * MOST_BODY_BYTES,
}


def test_what_a_large_job_needs_is_taken() -> None:
    count = 50_000
    body = document(
        "owners",
        '{"0":"' + ",".join(str(i % 1000) for i in range(count)) + '"}',
        move_order=json.dumps([f"0/{i}" for i in range(count)]),
        move_cost_s=json.dumps({f"0/{i}": 0.25 for i in range(count)}),
    )
    read: list[Assignment] = []
    assert peak_bytes(lambda: read.append(assignment_from_json(body))) < MOST_PEAK_BYTES / 4
    assert len(read[0].owners[0]) == len(read[0].move_order) == len(read[0].move_cost_s) == count


def peak_bytes(action: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", sorted(LARGE))
def test_no_body_fills_the_memory(name: str) -> None:
    body = LARGE[name]()
    assert len(body) <= MOST_BODY_BYTES

    def read() -> None:
        with pytest.raises(WireError) as caught:
            assignment_from_json(body)
        assert len(str(caught.value)) < 400

    assert peak_bytes(read) < MOST_PEAK_BYTES


def test_compressed_owners_are_bounded_together() -> None:
    zipped = "z:" + base64.b64encode(zlib.compress(b"0," * 2**20, 9)).decode()
    spec = {"generation": 1, "applicationId": "a", "queryId": "q", "owners": {str(i): zipped for i in range(100)}}

    def read() -> None:
        with pytest.raises(WireError):
            assignment_from_spec(spec)

    assert peak_bytes(read) < MOST_PEAK_BYTES


WRONG = [
    ("executors_target", "1000000000", "executors_target: '1000000000' given, 10000 is the most"),
    ("generation", "1" * 30, "generation: '111111111111111111111111111111' given, 9.22337e+18 is the most"),
    ("move_cost_s", '{"0/1": 1e999}', "move_cost_s, 0/1: 'inf' given, 1e+09 is the most"),
    ("move_cost_s", '{"0/1": 1' + "0" * 400 + "}", "move_cost_s, 0/1: '1000"),
    ("pace", '{"max_cost_s": 1e999}', "pace, max_cost_s: 'inf' given, 1e+09 is the most"),
    ("remove", "[5]", "remove, 0: '5' given, text is needed"),
    ("remove", '["' + "x" * 300 + '"]', "remove, 0: 300 characters given, 256 are the most"),
    ("query_id", '"' + "q" * 300 + '"', "query_id: 300 characters given, 256 are the most"),
]


@pytest.mark.parametrize(("field", "text", "sentence"), WRONG, ids=lambda value: str(value)[:30])
def test_what_is_too_much_gets_a_sentence(field: str, text: str, sentence: str) -> None:
    with pytest.raises(WireError) as caught:
        assignment_from_json(document(field, text))
    assert str(caught.value).startswith(sentence)


class Desk:
    """Takes everything whose query is "q", and quotes the rest."""

    def page(self) -> bytes:
        return b""

    def status(self) -> AgentStatus:
        return bare_status()

    def submit(self, assignment: Assignment) -> str | None:
        return None if assignment.query_id == "q" else f"UnknownQuery: {assignment.query_id}"

    def failed(self, error: BaseException) -> None:
        raise AssertionError from error


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = AgentServer(Desk(), "127.0.0.1", 0, lambda _: "token")
    yield server.port
    server.close()


def put(port: int, body: bytes) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("PUT", "/v1/assignment", body, {"Authorization": "Bearer token"})
    code = connection.getresponse().status
    connection.close()
    return code


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["0/1", "0*9"])
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
)
names = st.sampled_from([*Assignment.__slots__, "version", "colour"])
documents = st.dictionaries(names, values, max_size=8).map(lambda fields: json.dumps({**GOOD, **fields}).encode())
bodies = documents | st.binary(max_size=200) | documents.map(lambda body: body[: len(body) // 2])


@settings(max_examples=150, deadline=None)
@given(body=bodies)
def test_whatever_is_sent_is_answered_and_never_an_error_of_ours(port: int, body: bytes) -> None:
    assert put(port, body) in (202, 400, 409)


def test_text_that_no_encoding_has_is_quoted(port: int) -> None:
    assert put(port, document("query_id", '"\\ud800"')) == 409


def test_what_is_sent_in_good_faith_is_taken(port: int) -> None:
    good = Assignment(generation=1, application_id="a", query_id="q", executors_target=10_000)
    assert put(port, assignment_to_json(good).encode()) == 202
