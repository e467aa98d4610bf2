"""The commands of docs/user that need no node: on a job that an operator looks after, and from install to uninstall."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.cluster import binary, helm
from e2e.cluster.controlplane import ControlPlane
from e2e.suite import claims, steps
from e2e.suite.shell import Shell
from kube_jobs import JOB
from kubectl import eventually
from stage import Stage

from streamjob_operator.kube.names import FINALIZER

WORDS = {"NAME": JOB, "NEW": "0.2.0", "registry.example/streamjob-operator": "registry.example/op", "0.1.0": "0.1.1"}


def program() -> Path:
    found = helm.find()
    if found is None:
        pytest.skip(helm.HOW_TO_GET)
    return found


def test_commands_about_a_job_say_what_they_should(stage: Stage, tmp_path: Path) -> None:
    stage.operator()
    stage.job()
    stage.cycles(2)
    eventually(stage.events)
    shell = Shell(tmp_path, stage.kubeconfig, program(), WORDS, stage.namespace)
    claims.on_a_job(shell)
    steps.scale(shell)


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Shell]:
    """A reader before an API server that has never heard of StreamJob."""
    kube = binary.find()
    assert kube is not None, binary.HOW_TO_GET
    found = program()
    with ControlPlane(kube) as plane:
        yield Shell(tmp_path, plane.kubeconfig, found, WORDS, "default")


def test_from_install_to_the_end(bare: Shell) -> None:
    bare.kubectl.wait_for_account()
    steps.install(bare)
    steps.options(bare)
    steps.upgrade_and_roll_back(bare)
    for command in steps.SAMPLES:
        assert "created" in bare(command)
    held = json.dumps({"metadata": {"finalizers": [FINALIZER]}})
    bare.kubectl("patch", "streamjob", "payments", "--type=merge", "-p", held)
    steps.let_go_without_an_operator(bare, "payments")
    steps.install(bare)
    steps.take_away(bare)
