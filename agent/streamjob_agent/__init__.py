"""The agent in the user's Spark driver: measures key groups, places them, never breaks the job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamjob_agent.config import AgentConfig

__version__ = "0.1.0"


def install(spark: Any, config: AgentConfig | None = None) -> str | None:
    """Attach the agent to a SparkSession, for notebooks; see :func:`streamjob_agent.notebook.install`."""
    from streamjob_agent.notebook import install as attach  # lazily: the wire format is used without a driver, too

    return attach(spark, config)
