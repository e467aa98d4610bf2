"""What the agent says of itself while its measurements are missing."""

from __future__ import annotations

import time

from streamjob_operator.agent_http.client import AgentClient
from streamjob_operator.agent_sight import sight_of
from streamjob_operator.ports import Unavailable
from streamjob_operator.sight import Sight


def seen_at(client: AgentClient) -> Sight | None:
    """None where it does not answer."""
    try:
        return sight_of(client.status(), time.time())
    except Unavailable:
        return None
