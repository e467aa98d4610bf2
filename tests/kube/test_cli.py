"""`streamjob ...` on a cluster: the same commands as `kubectl streamjob`, with a kubeconfig of one's own."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from kube_jobs import JOB, stream_job
from kubectl import Kubectl

from streamjob_cli.main import ON_CLUSTER, main
from streamjob_operator.kube.kubectl.cli import main as plugin


class Cluster:
    """Runs commands where there is one StreamJob that no operator has seen."""

    def __init__(self, kubeconfig: Path, namespace: str) -> None:
        self._options = [f"--kubeconfig={kubeconfig}", f"--namespace={namespace}"]

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(main, [*arguments, *self._options])


@pytest.fixture
def cluster(api_server: Path, namespace: str, kubectl: Kubectl) -> Cluster:
    kubectl.apply(stream_job())
    return Cluster(api_server, namespace)


@pytest.mark.parametrize("before", [("kube",), ()], ids=["streamjob kube", "streamjob"])
def test_top_shows_the_jobs_of_the_namespace(cluster: Cluster, before: tuple[str, ...]) -> None:
    done = cluster.run(*before, "top")
    assert done.exit_code == 0, done.output
    header, *lines = done.output.splitlines()
    assert header.split()[:3] == ["namespace", "name", "phase"]
    assert [line.split()[1] for line in lines] == [JOB]


def test_pause_and_resume_are_an_annotation(cluster: Cluster, kubectl: Kubectl) -> None:
    assert cluster.run("pause", JOB).output == f"{JOB} is paused.\n"
    assert kubectl.get("streamjob", JOB)["metadata"]["annotations"]["streamjob.dev/pause"] == "true"
    assert cluster.run("resume", JOB).exit_code == 0
    assert "streamjob.dev/pause" not in kubectl.get("streamjob", JOB)["metadata"]["annotations"]


def test_a_job_that_is_not_there_is_a_sentence(cluster: Cluster) -> None:
    for command in ("explain", "history", "stop"):
        done = cluster.run(command, "nobody")
        assert done.exit_code == 1
        assert "There is no StreamJob nobody in namespace" in done.output


def test_both_programs_have_the_same_commands_but_for_plan() -> None:
    also_without_a_cluster = {"explain", "what-if"}
    assert set(ON_CLUSTER) | also_without_a_cluster == set(plugin.commands) - {"plan"}
    listed = main.list_commands(click.Context(main))
    assert set(ON_CLUSTER) <= set(listed)
    assert len(listed) == len(set(listed))
    assert all(main.get_command(click.Context(main), name) is not None for name in listed)
