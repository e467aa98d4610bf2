"""A cluster whose every address is one of IPv6: API server, agent and the operator's pages."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.cluster import binary
from e2e.cluster import prometheus as program
from e2e.cluster.controlplane import LOOPBACK_6, ControlPlane
from e2e.cluster.kubectl import Kubectl
from e2e.faults.__main__ import Place, install, outcome_of
from e2e.faults.cases import CASES
from test_faults import CONVERGE_S


@pytest.fixture
def plane() -> Iterator[ControlPlane]:
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    kube = binary.find()
    assert kube is not None, binary.HOW_TO_GET
    with ControlPlane(kube, place=LOOPBACK_6) as plane:
        install(Kubectl(plane.kubeconfig))
        yield plane


@pytest.mark.prometheus
def test_a_job_is_levelled_and_drained(plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = program.get()
    if found is None:
        pytest.skip(program.HOW_TO_GET)
    assert plane.server.startswith("https://[::1]:")
    monkeypatch.setenv("STREAMJOB_AGENT_HOST", "0.0.0.0")  # as in a driver's pod
    place = Place(folder=tmp_path, plane=plane, prometheus=found, converge_s=CONVERGE_S, host="[::1]")
    outcome = outcome_of(CASES[0], "six", place)
    assert outcome.converged_s is not None, outcome.note
    assert (outcome.doubled, outcome.lost, outcome.removed) == ((), (), 2)
