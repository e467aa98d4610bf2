"""A leader that cannot reach its lease any more, beside another operator that can."""

from __future__ import annotations

from e2e.cluster.controlplane import ControlPlane
from e2e.cluster.fault_proxy import FaultProxy, Rule
from kubectl import eventually
from operator_process import OperatorProcess
from stage import Stage

from streamjob_operator.kube.process.main import LOST_THE_LEASE

LEADS = "This operator leads."


def test_a_leader_whose_lease_hangs_has_ended_when_another_takes_it(stage: Stage, control_plane: ControlPlane) -> None:
    proxy = stage.stack.enter_context(FaultProxy(control_plane))
    first = stage.stack.enter_context(OperatorProcess(proxy.kubeconfig, stage.namespace, "--planners=1"))
    first.wait_for(LEADS)
    second = stage.operator()
    second.wait_for("Another operator holds the lease; waiting.")
    hanging = proxy.add(Rule(path=".*/leases/.*", hang_s=120.0))

    def leads() -> bool:
        return any(LEADS in line["message"] for line in second.lines())

    eventually(leads, 60.0, every_s=0.1)
    assert first.process is not None
    assert first.process.poll() == LOST_THE_LEASE
    assert hanging.applied > 1  # a request that hangs is given up for another


def test_a_lease_that_hangs_once_is_kept(stage: Stage, control_plane: ControlPlane) -> None:
    proxy = stage.stack.enter_context(FaultProxy(control_plane))
    operator = stage.stack.enter_context(OperatorProcess(proxy.kubeconfig, stage.namespace, "--planners=1"))
    operator.wait_for(LEADS)
    hanging = proxy.add(Rule(path=".*/leases/.*", hang_s=120.0, times=1))
    operator.wait_for("The lease was not renewed")
    renewals = len(proxy.requests)
    eventually(lambda: sum("/leases/" in path for _, path in proxy.requests[renewals:]) >= 4)
    assert hanging.applied == 1
    assert operator.process is not None
    assert operator.process.poll() is None
