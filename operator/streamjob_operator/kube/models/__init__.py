"""What the operator and the agent write into Kubernetes objects: models for the CRDs, the docs and the writers."""

from streamjob_operator.kube.models.partition_map import MapSpec, MapStatus
from streamjob_operator.kube.models.status import Status

__all__ = ["MapSpec", "MapStatus", "Status"]
