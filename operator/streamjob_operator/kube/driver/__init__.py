"""The driver of a StreamJob that has an application: made, watched, restarted and stopped by the operator."""

from streamjob_operator.kube.driver.reconcile import reconcile_driver
from streamjob_operator.kube.driver.remembering import from_status, to_status
from streamjob_operator.kube.driver.values import DriverMemory, DriverState, JobFacts

__all__ = ["DriverMemory", "DriverState", "JobFacts", "from_status", "reconcile_driver", "to_status"]
