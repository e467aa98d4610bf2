"""Which nodes count, where pods are, and that what was cordoned is uncordoned; kubectl's answers are given."""

from __future__ import annotations

from typing import Any

import pytest
from e2e.suite import nodes as module
from e2e.suite.nodes import Nodes

TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def _node(name: str, ready: str = "True", **spec: Any) -> dict[str, Any]:
    conditions = [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ready}]
    return {"metadata": {"name": name}, "spec": spec, "status": {"conditions": conditions}}


class Told:
    """Answers as kubectl would, and remembers the commands."""

    def __init__(self, *items: dict[str, Any]) -> None:
        self.items = list(items)
        self.commands: list[tuple[str, ...]] = []

    def __call__(self, *arguments: str, timeout_s: float = 60.0) -> str:
        self.commands.append(arguments)
        return ""

    def list(self, *_: str) -> list[dict[str, Any]]:
        return self.items


def test_only_nodes_that_are_ready_and_take_pods_count() -> None:
    told = Told(_node("a"), _node("b", ready="Unknown"), _node("c", taints=[TAINT], unschedulable=True), _node("d"))
    nodes = Nodes(told)  # type: ignore[arg-type]
    assert nodes.usable() == ("a", "d")
    nodes.require(2)


def test_nodes_that_are_lacking_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TAKEN_S", 0.0)
    with pytest.raises(AssertionError, match="2 nodes are needed, pods go to: a"):
        Nodes(Told(_node("a"))).require(2)  # type: ignore[arg-type]


def test_pods_that_have_no_node_yet_are_nowhere() -> None:
    pods = [{"metadata": {"name": "x"}, "spec": {"nodeName": "a"}}, {"metadata": {"name": "y"}, "spec": {}}]
    nodes = Nodes(Told())  # type: ignore[arg-type]
    assert nodes.of(Told(*pods), ["x", "y", "gone"]) == {"x": "a"}  # type: ignore[arg-type]


def test_a_drained_node_is_restored_once() -> None:
    told = Told()
    nodes = Nodes(told)  # type: ignore[arg-type]
    nodes.drain("a", "parcels")
    nodes.restore()
    nodes.restore()
    assert [command[:2] for command in told.commands] == [("drain", "a"), ("uncordon", "a")]
    assert "--pod-selector=streamjob.dev/job=parcels" in told.commands[0]


def test_a_killed_node_is_started_again_once(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []
    monkeypatch.setattr(module.subprocess, "run", lambda command, **_: called.append(command))
    monkeypatch.delenv(module.DOCKER, raising=False)
    nodes = Nodes(Told())  # type: ignore[arg-type]
    assert not nodes.can_be_killed()
    monkeypatch.setenv(module.DOCKER, "docker --host=unix:///d")
    assert nodes.can_be_killed()
    nodes.kill("a")
    nodes.restore()
    nodes.restore()
    assert called == [["docker", "--host=unix:///d", "kill", "a"], ["docker", "--host=unix:///d", "start", "a"]]
