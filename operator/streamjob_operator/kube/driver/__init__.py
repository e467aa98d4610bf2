"""The driver of a StreamJob that has an application: made, watched, restarted and stopped by the operator."""

from streamjob_operator.kube.driver.reconcile import executor_refusal, reconcile_driver
from streamjob_operator.kube.driver.remembering import change_to_status, from_status, to_status
from streamjob_operator.kube.driver.values import DriverMemory, DriverState, JobFacts

__all__ = [
    "DriverMemory",
    "DriverState",
    "JobFacts",
    "change_to_status",
    "executor_refusal",
    "from_status",
    "reconcile_driver",
    "to_status",
]
