"""The page of Prometheus series: the agent's from an empty page of its exporter, the operator's from their names."""

from __future__ import annotations

from making.tables import code, table
from streamjob_agent.exporter import AgentCollector, Facts
from streamjob_agent.wire import AgentStatus
from streamjob_operator.kube.telemetry_names import FAMILIES

HEAD = ("series", "type", "labels", "what it says")
PAGE = """# Metrics

## Of the agent, in the job's Spark driver

Label `query` is the query's id, the same over restarts from one checkpoint; `operator` is Spark's operator id;
`partition` the partition of its state. Counters start at zero with the driver. A series is absent where nothing is
known.

{agent}
## Of the operator

Labels `job_namespace` and `job_name` name the StreamJob. A job's series vanish with the job; counters start at zero
with the operator.

{operator}"""


def page() -> str:
    """Every series."""
    return PAGE.format(agent=table(HEAD, _agent()), operator=table(HEAD, _operator()))


def _agent() -> list[tuple[str, ...]]:
    families = AgentCollector(lambda: NOTHING).collect()
    return [
        (code(one.name + ("_total" if one.type == "counter" else "")), one.type, _labels(one), one.documentation)
        for one in families
    ]


def _labels(family: object) -> str:
    return ", ".join(getattr(family, "_labelnames", ()))


def _operator() -> list[tuple[str, ...]]:
    return [(code(one.name), one.kind, ", ".join(one.labels), one.help) for one in FAMILIES]


NOTHING = Facts(
    status=AgentStatus(
        agent_version="",
        spark_version="",
        application_id="",
        now_s=0.0,
        actuation="on",
        reason="",
        message="",
        generation_applied=None,
        refused=None,
        executors=(),
        queries=(),
    ),
    queries=(),
    pages=(),
    executor_busy_s={},
    memory={},
    moves={},
    errors={},
    overhead_s=0.0,
    locality_wait_s=None,
)
