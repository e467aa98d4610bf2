"""The agent as a client of its PartitionMap: follows the spec, writes the status. The job never waits for it.

In a pod only the standard library is needed. With KUBECONFIG the `kubernetes` package reads that file (extra `kube`).
"""

from streamjob_agent.kube.client import follow, prepared

__all__ = ["follow", "prepared"]
