"""Names of the operator's own Prometheus series: the contract with dashboards, alerts and docs/reference.

Labels of a job's series are `job_namespace` and `job_name`, because `namespace` and `job` are what Prometheus itself
calls the operator's pod. A job's series vanish with the job; counters start at zero with the operator.
"""

from __future__ import annotations

import dataclasses

JOB_LABELS = ("job_namespace", "job_name")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One kind of series: name, counter, gauge or histogram, what it says, and its labels."""

    name: str
    kind: str
    help: str
    labels: tuple[str, ...] = JOB_LABELS


CYCLES = Family(
    name="streamjob_job_cycles_total",
    kind="counter",
    help="Cycles by what came of them: decision is Acted, Held or Refused, reason its code.",
    labels=(*JOB_LABELS, "decision", "reason"),
)
WAKES = Family(
    name="streamjob_job_wakes_total",
    kind="counter",
    help="What happened before cycles that did not wait for the end of their statistics period, by kind.",
    labels=(*JOB_LABELS, "event"),
)
STEP_SECONDS = Family(
    name="streamjob_job_cycle_step_seconds_total",
    kind="counter",
    help="Time spent in each step of the cycles, in seconds.",
    labels=(*JOB_LABELS, "step"),
)
LAST_CYCLE = Family(
    name="streamjob_job_last_cycle_timestamp_seconds", kind="gauge", help="When the newest cycle began, seconds."
)
METRICS_AGE = Family(
    name="streamjob_job_metrics_age_seconds",
    kind="gauge",
    help="Age of the newest measurement at the newest cycle, or for how long there has been none, seconds.",
)
EXECUTORS = Family(
    name="streamjob_job_executors",
    kind="gauge",
    help="Executors: ready and not marked, marked (being drained), and wanted.",
    labels=(*JOB_LABELS, "state"),
)
EXECUTOR_SPEED = Family(
    name="streamjob_job_executor_speed_ratio",
    kind="gauge",
    help="Speed of an executor over that of most, as plans count it; absent where it is that of the others.",
    labels=(*JOB_LABELS, "executor"),
)
LOAD_SURVIVED = Family(
    name="streamjob_job_load_survived_ratio",
    kind="gauge",
    help="Times today's load that today's placement survives: growth is alike (all load) or any (the worst mix of the "
    "last batches).",
    labels=(*JOB_LABELS, "growth"),
)
LOAD_DISTANCE = Family(
    name="streamjob_job_load_distance_percent",
    kind="gauge",
    help="Largest distance of an executor's load from the mean, percent points of its task slots.",
)
LOAD_MEAN = Family(
    name="streamjob_job_load_mean_percent",
    kind="gauge",
    help="Mean load of unmarked executors, percent of their slots.",
)
PREDICTED_DISTANCE = Family(
    name="streamjob_job_predicted_load_distance_percent",
    kind="gauge",
    help="Load distance that the newest accepted plan promised, percent points.",
)
PREDICTION_ERROR = Family(
    name="streamjob_job_prediction_error_percent",
    kind="gauge",
    help="Measured load distance less the promised one, percent points, once a whole window lies behind the plan.",
)
BATCH_SECONDS = Family(
    name="streamjob_job_batch_seconds", kind="gauge", help="Mean batch of the statistics period, seconds."
)
PREDICTED_BATCH = Family(
    name="streamjob_job_predicted_batch_seconds",
    kind="gauge",
    help="The same batch as predicted from its tasks with what was known before it, seconds.",
)
BATCH_ERROR = Family(
    name="streamjob_job_batch_prediction_error_percent",
    kind="gauge",
    help="Mean difference between predicted and measured batches, percent of the measured ones; above 25 nothing is "
    "planned on predictions.",
)
SINGLE_ERRORS = Family(
    name="streamjob_job_batch_prediction_error_ratio",
    kind="histogram",
    help="Difference between the predicted and the measured seconds of each batch, counted once, as a part of the "
    "measured ones. Left out: batches in which key groups moved, or executors came or went.",
)
PLANNED_BATCH = Family(
    name="streamjob_job_planned_batch_seconds",
    kind="gauge",
    help="Mean batch that the newest accepted plan promised, seconds.",
)
SCALING_ERROR = Family(
    name="streamjob_job_scaling_prediction_error_percent",
    kind="gauge",
    help="Predicted less measured batch after the newest settled change of executors, percent of the measured one; of "
    "the scaling rule batch-time.",
)
BATCH_BOUND = Family(
    name="streamjob_job_batch_bound_seconds",
    kind="gauge",
    help="Mean batch that no placement within the budget goes below, seconds; proven.",
)
COLLOCATION = Family(
    name="streamjob_job_collocation_percent",
    kind="gauge",
    help="Share of the traffic between key groups that stays on one executor, percent; absent without traffic.",
)
MOVES = Family(name="streamjob_job_moves_total", kind="counter", help="Moves of key groups in accepted plans.")
MOVED_BYTES = Family(
    name="streamjob_job_moved_state_bytes_total",
    kind="counter",
    help="State of the key groups in accepted moves, bytes.",
)
MOVE_COST = Family(
    name="streamjob_job_move_cost_seconds_total", kind="counter", help="Expected pauses of accepted moves, seconds."
)
BUDGET_USED = Family(
    name="streamjob_job_budget_used_ratio",
    kind="gauge",
    help="Seconds that the newest accepted plan adds to batches in all, over those that it may add to one.",
)
MOVES_PENDING = Family(
    name="streamjob_job_moves_pending", kind="gauge", help="Moves that the agent had still to make at the newest cycle."
)
REPORTER_ERRORS = Family(
    name="streamjob_job_reporter_errors_total", kind="counter", help="Errors of reporters, which change nothing else."
)
CYCLE_SECONDS = Family(
    name="streamjob_operator_cycle_seconds", kind="histogram", help="Length of cycles of all jobs, seconds.", labels=()
)
JOBS = Family(
    name="streamjob_operator_jobs",
    kind="gauge",
    help="StreamJobs that had a cycle since the operator began, without those that are suspended.",
    labels=(),
)
PLANNER_KILLS = Family(
    name="streamjob_operator_planner_kills_total",
    kind="counter",
    help="Planning processes that were ended because they overran their deadline or died.",
    labels=(),
)
QUOTA = Family(
    name="streamjob_operator_executor_quota",
    kind="gauge",
    help="Executors that all jobs of a namespace may have together; absent without a quota.",
    labels=("job_namespace",),
)
QUOTA_HELD = Family(
    name="streamjob_operator_executor_quota_held",
    kind="gauge",
    help="Executors of them that jobs have or have asked for, drained ones included.",
    labels=("job_namespace",),
)
API_REQUESTS = Family(
    name="streamjob_operator_api_requests_total",
    kind="counter",
    help="Requests to the API server by verb, resource and HTTP status; code 0 is no answer.",
    labels=("verb", "resource", "code"),
)

FAMILIES: tuple[Family, ...] = (
    CYCLES,
    WAKES,
    STEP_SECONDS,
    LAST_CYCLE,
    METRICS_AGE,
    EXECUTORS,
    EXECUTOR_SPEED,
    LOAD_SURVIVED,
    LOAD_DISTANCE,
    LOAD_MEAN,
    PREDICTED_DISTANCE,
    PREDICTION_ERROR,
    BATCH_SECONDS,
    PREDICTED_BATCH,
    SCALING_ERROR,
    BATCH_ERROR,
    SINGLE_ERRORS,
    PLANNED_BATCH,
    BATCH_BOUND,
    COLLOCATION,
    MOVES,
    MOVED_BYTES,
    MOVE_COST,
    BUDGET_USED,
    MOVES_PENDING,
    REPORTER_ERRORS,
    CYCLE_SECONDS,
    JOBS,
    PLANNER_KILLS,
    API_REQUESTS,
    QUOTA,
    QUOTA_HELD,
)
"""Every family, in the order of the page."""
