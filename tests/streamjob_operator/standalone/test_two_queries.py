"""Two queries on one page of the agent: one snapshot where they are planned together, else that of one of them."""

from __future__ import annotations

import dataclasses

import pytest
from fake_agent import FakeAgent, Server

from streamjob_agent.wire import AgentStatus
from streamjob_operator.agent_http.client import AgentClient, fixed_address
from streamjob_operator.agent_http.metrics import AgentMetrics
from streamjob_operator.ports import Unavailable


@dataclasses.dataclass(kw_only=True)
class TwoQueries(FakeAgent):
    """The second one, named clicks, tells what `other` does."""

    other: FakeAgent = dataclasses.field(default_factory=FakeAgent)

    def page(self) -> str:
        lines = (line for line in self.other.page().splitlines() if 'query="q"' in line)
        return super().page() + "".join(line.replace('query="q"', 'query="r"') + "\n" for line in lines)

    def status(self) -> AgentStatus:
        seen, (other,) = super().status(), self.other.status().queries
        return dataclasses.replace(
            seen, queries=(*seen.queries, dataclasses.replace(other, query_id="r", name="clicks"))
        )


@pytest.mark.parametrize("together", [True, False])
def test_queries_are_one_snapshot_once_both_are_measured(together: bool) -> None:
    agent, now = TwoQueries(other=FakeAgent(owners=["1"] * 4)), [100.0]
    with Server(agent) as address:
        metrics = AgentMetrics(AgentClient(fixed_address(address)), 10.0, lambda: now[0], together=together)

        def batch(other: bool) -> None:
            now[0] += 5.0
            agent.advance(1.0, 1.0, 1.0, 1.0)
            if other:
                agent.other.advance(2.0, 2.0, 2.0, 2.0)
            metrics.scrape()

        metrics.scrape()
        with pytest.raises(Unavailable, match="No batch has ended"):
            metrics.observe(now[0], 10.0)
        for _ in range(3):
            batch(other=False)
        alone = metrics.observe(now[0], 10.0)
        assert (len(alone.group_ids), alone.queries) == (4, ())
        assert alone.unmeasured == ({"clicks": ("1",)} if together else {})
        for _ in range(3):
            batch(other=True)
        both = metrics.observe(now[0], 10.0)
        assert both.busy_s.tolist() == [2.0] * 4 + [4.0] * 4 * together
        assert both.owners == ("0", "0", "1", "1") + ("1",) * 4 * together
        assert [one.name for one in both.queries] == ["q", "clicks"][: 2 * together]
        assert both.unmeasured == {}
        agent.other.ended = True
        assert metrics.observe(now[0], 10.0).queries == ()
