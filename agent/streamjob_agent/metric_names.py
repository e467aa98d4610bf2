"""Names of the agent's Prometheus series: the contract with every controller, dashboard and alert.

Labels: `query` is the query's id (stable over restarts from one checkpoint), `operator` Spark's operatorId,
`partition` the state store partition; both are whole numbers as text. Counters restart at zero with the driver.
"""

from __future__ import annotations

GROUP_LABELS = ("query", "operator", "partition")

# Counters per key group.
GROUP_BUSY_SECONDS = "streamjob_keygroup_busy_seconds_total"  # run time of the group's tasks
GROUP_WARMUP_SECONDS = "streamjob_keygroup_warmup_seconds_total"  # part of busy that only a move or a start cost
GROUP_CPU_SECONDS = "streamjob_keygroup_cpu_seconds_total"  # CPU of the tasks' JVM threads, without Python workers
GROUP_RECORDS = "streamjob_keygroup_records_total"  # records read by the group's tasks
GROUP_LOCAL_BYTES = "streamjob_keygroup_shuffle_local_bytes_total"
GROUP_REMOTE_BYTES = "streamjob_keygroup_shuffle_remote_bytes_total"
GROUP_GC_SECONDS = "streamjob_keygroup_gc_seconds_total"  # part of busy: its executor collected garbage
GROUP_FETCH_SECONDS = "streamjob_keygroup_fetch_wait_seconds_total"  # part of busy: waited for shuffle blocks
GROUP_SENT_BYTES = "streamjob_keygroup_sent_bytes_total"  # to key groups of other operators, all pairs

# Gauges per key group.
GROUP_STATE_BYTES = "streamjob_keygroup_state_bytes"  # checkpoint bytes that a move of the group would load
GROUP_STATE_ROWS = "streamjob_keygroup_state_rows"
GROUP_STATE_MEMORY = "streamjob_keygroup_state_memory_bytes"  # of its state stores, after its newest task
GROUP_PARTNERS = "streamjob_keygroup_partners"  # key groups of other operators that it sent anything to
GROUP_PINNED = "streamjob_keygroup_pinned"  # 1 for a group that stays on its executor while it can
GROUP_EXECUTOR_ID = "streamjob_keygroup_executor_id"  # the executor its newest task ran on, as a number

# Counter per pair of communicating key groups, only the heavy pairs. Labels: see TRAFFIC_LABELS.
TRAFFIC_BYTES = "streamjob_traffic_bytes_total"
TRAFFIC_LABELS = ("query", "from_operator", "from_partition", "to_operator", "to_partition")

# Counter per operator. Labels: query, operator.
OPERATOR_LABELS = ("query", "operator")
OPERATOR_SQUARED_SECONDS = "streamjob_operator_squared_seconds_total"
"""Sum over its key groups and batches of the square of a group's seconds in a batch, warm-up left out.

With its growth S2 over B batches, and mean_k of n key groups, the variance of a group from batch to batch, pooled, is
(S2 / B - sum of mean_k squared) / n * B / (B - 1).
"""

# Per stage of a query's batches. Labels: query, stage.
STAGE_LABELS = ("query", "stage")
STAGE_WALL_SECONDS = "streamjob_stage_wall_seconds_total"
STAGE_BUSY_SECONDS = "streamjob_stage_busy_seconds_total"
STAGE_LONGEST_SECONDS = "streamjob_stage_longest_task_seconds_total"  # sum of each batch's longest task
STAGE_WAIT_SECONDS = "streamjob_stage_wait_seconds_total"  # of its tasks, from its submission to their launch
STAGE_LEVEL = "streamjob_stage_level"  # gauge; stages of one level run side by side

# Per part of a query's batches. Labels: query, part.
PART_LABELS = ("query", "part")
PART_SECONDS = "streamjob_query_part_seconds_total"
PARTS = ("latestOffset", "queryPlanning", "getBatch", "walCommit", "addBatch", "commitOffsets", "triggerExecution")

# Per executor: label `executor`, and `host` on the cores.
EXECUTOR_CORES = "streamjob_executor_cores"  # task slots; absent once the executor is gone
EXECUTOR_STATE = "streamjob_executor_state"  # labels executor, state; 1 for the state it is in
EXECUTOR_MEMORY_USED = "streamjob_executor_memory_used_bytes"  # the most since it began; absent until it tells
EXECUTOR_MEMORY_LIMIT = "streamjob_executor_memory_limit_bytes"  # of its container; absent without one
EXECUTOR_STATE_LABELS = ("query", "executor")
EXECUTOR_STATE_LIMIT = "streamjob_executor_state_limit_bytes"  # memory for a query's state; absent without a limit
EXECUTOR_BUSY_SECONDS = "streamjob_executor_busy_seconds_total"  # every task it ran, of any stage

# Per query: label `query`.
QUERY_BATCHES = "streamjob_query_batches_total"
QUERY_BATCH_SECONDS = "streamjob_query_batch_seconds_total"  # sum of batch durations
QUERY_LAST_BATCH_SECONDS = "streamjob_query_last_batch_seconds"
QUERY_LAST_BATCH_TIMESTAMP = "streamjob_query_last_batch_timestamp_seconds"
QUERY_LAST_BATCH_ID = "streamjob_query_last_batch_id"
QUERY_TRIGGER_SECONDS = "streamjob_query_trigger_interval_seconds"  # absent when batches follow without a pause
QUERY_INPUT_ROWS = "streamjob_query_input_rows_total"
QUERY_INPUT_RATE = "streamjob_query_input_rows_per_second"  # as Spark's progress reports it
QUERY_PROCESSED_RATE = "streamjob_query_processed_rows_per_second"
QUERY_LAG_ROWS = "streamjob_query_source_lag_rows"  # absent when no source tells its lag
QUERY_RUNNING_ROWS = "streamjob_query_running_batch_rows"  # at least; absent until its sources are read
QUERY_RUNNING_SINCE = "streamjob_query_running_batch_since_timestamp_seconds"
QUERY_IDLE_SINCE = "streamjob_query_idle_since_timestamp_seconds"  # absent while a batch runs
QUERY_OTHER_BUSY_SECONDS = "streamjob_query_other_busy_seconds_total"  # tasks without a key group, and starts
QUERY_MOVED_GROUPS = "streamjob_query_moved_keygroups_total"  # by a plan, by the guard, or by Spark itself
QUERY_TRAFFIC_BATCHES = "streamjob_query_traffic_batches_total"  # batches that the traffic series stand for
QUERY_STATE_MEMORY_BYTES = "streamjob_query_state_memory_bytes"  # of its state stores, as they report it
QUERY_INFO = "streamjob_query_info"  # labels query, name, run; 1 for each active query

# The agent itself.
AGENT_INFO = "streamjob_agent_info"  # labels agent_version, spark_version, application; 1
AGENT_ACTUATION = "streamjob_agent_actuation"  # label reason; 1 on, 0 off
AGENT_GENERATION = "streamjob_agent_generation_applied"
AGENT_MOVES = "streamjob_agent_moves_total"  # label result: see actuation.RESULTS
AGENT_ERRORS = "streamjob_agent_errors_total"  # label place: where an error of the agent's own was caught
AGENT_OVERHEAD_SECONDS = "streamjob_agent_overhead_seconds_total"  # time the agent's own work took in the driver
AGENT_LOCALITY_WAIT_SECONDS = "streamjob_agent_locality_wait_seconds"


def stage_name(operator: int | None, place: str = "") -> str:
    """Value of the label `stage`: "operator-3", or without key groups its place, level and turn: "free-0.1"."""
    return f"free-{place}" if operator is None else f"operator-{operator}"


def stage_operator(stage: str) -> int | None:
    """The operator whose key groups are the stage's tasks; None without."""
    kind, _, place = stage.partition("-")
    return int(place) if kind == "operator" else None
