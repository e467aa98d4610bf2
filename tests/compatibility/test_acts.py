"""What is waited for after an act: that something was seen, not that nothing was told."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

sys.path.append(str(Path(__file__).parents[2]))

from bare_status import bare_status
from e2e.compatibility.acts import kill
from e2e.compatibility.running import Running

from streamjob_agent.wire import AgentStatus, ExecutorStatus, QueryStatus


def a_status(batch: int, owner: str) -> AgentStatus:
    query = QueryStatus(query_id="q", run_id="r", name="one", batch_id=batch, owners={0: (owner,)})
    executors = tuple(ExecutorStatus(executor_id=one, host="", cores=1, state="ready", groups=1) for one in ("1", "2"))
    return bare_status(queries=(query,), executors=executors)


class Told:
    """What an agent told, one status after another."""

    def __init__(self, *told: AgentStatus) -> None:
        self.left = list(told)
        self.killed: list[str] = []

    def until(self, what: str, holds: Callable[[AgentStatus], Any]) -> AgentStatus:
        while not holds(status := self.left.pop(0)):
            assert self.left, what
        return status

    def kill_executor(self, status: AgentStatus, executor_id: str) -> None:
        self.killed.append(executor_id)


def test_an_agent_that_forgets_its_queries_after_a_kill_has_not_shown_them_elsewhere() -> None:
    told = Told(a_status(5, "1"), bare_status(), a_status(6, "2"), a_status(7, "1"), a_status(7, "2"))
    assert kill(cast(Running, told), ["one"], random.Random(1)) == "one killed"
    assert (told.killed, told.left) == (["1"], [])
