"""Who moves key groups at random, in front of an agent that only writes down what it is asked."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_status import bare_status
from jobs.moves import Mover

from streamjob_agent.wire import (
    AgentStatus,
    Assignment,
    ExecutorStatus,
    QueryStatus,
    assignment_from_json,
    status_to_json,
)


class PaperAgent(http.server.ThreadingHTTPServer):
    """Two queries, two executors that are ready and one that leaves; refuses when told to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.batch: int | None = None
        self.owner = "1"
        self.refuses = False
        self.asked: list[Assignment] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def status(self) -> AgentStatus:
        states = (("1", "ready"), ("2", "draining"), ("3", "ready"))
        return bare_status(
            agent_version="0",
            spark_version="4",
            application_id="app",
            reason="",
            executors=tuple(
                ExecutorStatus(executor_id=one, host="h", cores=1, state=state, groups=80 * (one == self.owner))
                for one, state in states
            ),
            queries=tuple(
                QueryStatus(query_id=one, run_id="r", name=None, batch_id=self.batch, owners={0: (self.owner,) * 40})
                for one in ("a", "b")
            ),
        )


class Handler(http.server.BaseHTTPRequestHandler):
    server: PaperAgent

    def do_GET(self) -> None:
        self._answer(200, status_to_json(self.server.status()).encode())

    def do_PUT(self) -> None:
        self.server.asked.append(assignment_from_json(self.rfile.read(int(self.headers["Content-Length"]))))
        self._answer(*((409, b"no such query") if self.server.refuses else (200, b"{}")))

    def _answer(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Tests are quiet."""


@pytest.fixture
def agent() -> Iterator[PaperAgent]:
    with PaperAgent() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_every_query_moves_once_a_batch_and_only_to_executors_that_are_ready(agent: PaperAgent, tmp_path: Path) -> None:
    mover = Mover(agent.address, seed=1, drain=tmp_path / "drain")
    mover.turn()
    assert agent.asked == []  # before its first batch a query has no owners to change
    for agent.batch in (0, 0, 1):
        mover.turn()
    assert [(one.query_id, one.generation) for one in agent.asked] == [("a", 1), ("b", 2), ("a", 3), ("b", 4)]
    owners = [owner for one in agent.asked for owner in one.owners[0]]
    assert set(owners) == {None, "1", "3"}
    assert agent.asked[0].owners != agent.asked[1].owners
    assert [one.query_id for one in mover.known({"b", "gone"})] == ["b"]
    assert mover.moves({"a", "b"}) == 0  # what was asked for has not been seen
    agent.owner = "3"
    mover.turn()
    assert (mover.moves({"a", "b"}), mover.moves({"b"}), mover.moves({"gone"})) == (80, 40, 0)


def test_who_is_to_be_drained_loses_all_key_groups_of_queries_that_rest_too(agent: PaperAgent, tmp_path: Path) -> None:
    mover = Mover(agent.address, seed=1, drain=tmp_path / "drain")
    agent.batch = 0
    mover.turn()
    assert {(one.marked_for_removal, one.remove, one.executors_target) for one in agent.asked} == {((), (), None)}
    agent.asked.clear()
    (tmp_path / "drain").touch()
    mover.turn()  # no query has come to another batch
    assert [one.query_id for one in agent.asked] == ["a", "b"]
    leaver = mover._drain.leaver
    stays = "3" if leaver == "1" else "1"
    agent.owner = str(leaver)
    agent.batch = 1
    agent.asked.clear()
    mover.turn()
    assert {(one.marked_for_removal, one.remove, one.executors_target) for one in agent.asked} == {((leaver,), (), 2)}
    assert {owner for one in agent.asked for owner in one.owners[0]} == {stays}
    agent.owner, agent.batch = stays, 2
    agent.asked.clear()
    mover.turn()
    assert {one.remove for one in agent.asked} == {(leaver,)}, "an agent refuses who still holds key groups"


def test_a_refusal_is_counted_and_a_failure_told_when_it_stops(agent: PaperAgent, tmp_path: Path) -> None:
    agent.batch, agent.refuses = 0, True
    mover = Mover(agent.address, seed=1, drain=tmp_path / "drain")
    mover.turn()
    assert dict(mover.refused) == {"no such query": 2}
    lost = Mover("http://127.0.0.1:9", seed=1, drain=tmp_path / "drain")
    lost.start()
    while lost.failure is None:
        threading.Event().wait(0.01)
    with pytest.raises(OSError, match="refused"):
        lost.stop()
