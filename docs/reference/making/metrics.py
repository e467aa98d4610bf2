"""The page of Prometheus series: the agent's from an empty page of its exporter, the operator's from their names."""

from __future__ import annotations

from making.tables import code, table
from streamjob_agent.exporter import Facts, others
from streamjob_agent.group_series import groups
from streamjob_agent.wire import AgentStatus
from streamjob_operator.kube.process.telemetry_names import FAMILIES

HEAD = ("series", "type", "labels", "what it says")
PAGE = """# Metrics

## Of the agent, in the job's Spark driver

Label `query` is the query's id, the same over restarts from one checkpoint; `operator` is Spark's operator id;
`partition` the partition of its state. Counters start at zero with the driver. A series is absent where nothing is
known.

{agent}
### Stages, and how key groups vary

A `stage` is `operator-3` where the tasks are key groups of operator 3, else `free-<level>.<turn>`: the turn-th stage
without key groups of that level. A level is the longest way to a stage through the stages that ran: those of one level
run side by side, what reads from a stage has a higher one, and a stage that Spark skipped counts for nothing. Jobs that
a batch runs one after another (actions in `foreachBatch`, broadcasts) go on counting; jobs side by side share levels. A
stage that runs twice in a batch is one, with the time of both. A union is one stage with the tasks of all its inputs.
It has a name for each operator in it, and one for its tasks without key groups, all with the same wall time. Failed
tasks are in no stage.

Of batches that still run nothing is counted. With S the growth of `streamjob_operator_squared_seconds_total` over B
batches, and m the mean seconds of each of the operator's n key groups (busy less warm-up), the variance of a key group
from batch to batch, pooled, is (S / B - sum of m squared) / n * B / (B - 1). A batch in which a key group was cold
counts with what is usual for the group, so that moves do not look like unrest.

### Memory: what the figures are, and are not

- `streamjob_executor_memory_used_bytes` is the most that the executor has used since it began, of what its heartbeats
  told (every 10 s): it never falls. With `spark.executor.processTreeMetrics.enabled` it is the resident memory of the
  executor's processes, Python workers too. Without, it is the JVM's heap, garbage included, and the JVM's own pools
  beside it: neither RocksDB's native memory nor Python workers are in it, so the container may hold more.
- `streamjob_executor_memory_limit_bytes` is what Spark sizes the executor's container to: heap, overhead, off-heap and
  Python memory. It is there on Kubernetes and YARN only; nothing else ends an executor for using more.
- `streamjob_keygroup_state_memory_bytes` is what the key group's stores told after its newest task. On the heap
  (HDFS-backed) it is Spark's estimate of the current version of its maps: Spark samples large maps, so it is off by
  some 20 percent, more where rows are few and large; older versions that are kept share most rows with it. Of RocksDB
  it is the memtables, block cache and index of its stores: native memory, far less than the state. Where stores share
  a bounded memory it is a share of that, and no limit is told.
- `streamjob_executor_state_limit_bytes` is the most that an executor can have for a query's state, what other queries
  hold there taken off. On the heap it is the heap; what lives there beside the state is not known and not taken off.
  Outside it is the container's memory overhead less what the JVM's own pools have used (classes, code, direct and
  mapped buffers); thread stacks and Python workers are not taken off. It is absent where nothing holds state to a
  limit: RocksDB without a container or with `boundedMemoryUsage`, local mode. So a placement above it cannot work,
  and one below it may still be too much.
- `streamjob_query_state_memory_bytes` is what the state stores of the newest batch report, summed. For the HDFS-backed
  store it is an estimate of its maps; for RocksDB its memtables and block cache only, which is far less than the state,
  and which stores that share a bounded memory report in parts. For what a move loads see
  `streamjob_keygroup_state_bytes`.

## Of the operator

Labels `job_namespace` and `job_name` name the StreamJob. A job's series vanish with the job; counters start at zero
with the operator.

{operator}"""


def page() -> str:
    """Every series."""
    return PAGE.format(agent=table(HEAD, _agent()), operator=table(HEAD, _operator()))


def _agent() -> list[tuple[str, ...]]:
    families = (*groups(NOTHING.pages), *others(NOTHING))
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
    resting=frozenset(),
    pages=(),
    executor_busy_s={},
    memory={},
    moves={},
    errors={},
    overhead_s=0.0,
    locality_wait_s=None,
)
