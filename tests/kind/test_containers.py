"""What kind is told, and which node image is taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e.cluster.image import Image
from e2e.cluster.versions import NEWEST, OLDEST
from e2e.kind import cluster, containers
from e2e.kind.engine import Engine


class Recorded(Engine):
    """An engine that answers from a table and keeps what it was asked."""

    def __init__(self, answers: dict[str, str]) -> None:
        super().__init__()
        object.__setattr__(self, "answers", answers)
        object.__setattr__(self, "asked", [])

    def run(self, *command: str, text: str | None = None) -> str:
        self.asked.append(command)
        return next((answer for key, answer in self.answers.items() if key in " ".join(command)), "")


def test_workers_share_the_folder_of_volumes_and_nothing_is_patched_on_a_users_engine() -> None:
    told = containers.configuration("image", NEWEST, is_bare=False)
    assert [one["role"] for one in told["nodes"]] == ["control-plane", "worker", "worker"]
    mounts = [one.get("extraMounts") for one in told["nodes"]]
    assert mounts[0] is None
    assert mounts[1] == mounts[2] == [{"hostPath": "/var/tmp/streamjob-e2e", "containerPath": "/var/tmp/streamjob-e2e"}]
    assert not {"containerdConfigPatches", "networking", "featureGates"} & told.keys()


def test_a_bare_machine_restricts_scores_and_uses_nftables() -> None:
    told = containers.configuration("image", NEWEST, is_bare=True)
    assert "restrict_oom_score_adj = true" in told["containerdConfigPatches"][0]
    assert told["networking"]["kubeProxyMode"] == "nftables"
    assert "featureGates" not in told
    assert containers.configuration("image", OLDEST, is_bare=True)["featureGates"] == {"NFTablesProxyMode": True}


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["kindest/node:v1.34.9", "kindest/node:v1.34.10", "kindest/node:v1.33.1"], "kindest/node:v1.34.10"),
        (["kindest/node:v1.33.1", "kindest/node:v1.340.1", "kindest/node:<none>"], None),
        ([], None),
    ],
)
def test_a_pulled_node_image_of_our_minor_is_taken(tags: list[str], expected: str | None) -> None:
    assert containers.newest(tags, "1.34") == expected


def test_images_go_to_the_workers_that_lack_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers.programs, "kind", lambda: Path("kind"))
    image = Image(name="user-spark", key="1")
    engine = Recorded({"exec streamjob-e2e-worker ": "localhost/user-spark:1\nother"})
    containers.load(engine, image)
    assert engine.asked[-1][-2:] == ("--name=streamjob-e2e", "--nodes=streamjob-e2e-worker2")
    both = Recorded({"docker exec": "localhost/user-spark:1"})
    containers.load(both, image)
    assert not [one for one in both.asked if one[0] == "kind"]


def test_prometheus_goes_to_the_control_plane_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker is killed by a case, and nothing would measure then."""
    monkeypatch.setattr(containers.programs, "kind", lambda: Path("kind"))
    engine = Recorded({})
    containers.load(engine, Image(name="prometheus", key="1"))
    nodes = "streamjob-e2e-worker,streamjob-e2e-worker2,streamjob-e2e-control-plane"
    assert engine.asked[-1][-1] == f"--nodes={nodes}"


def test_a_cluster_is_made_when_every_node_is_ready(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(containers.programs, "kind", lambda: Path("kind"))
    monkeypatch.setattr(containers.kubectl, "program", lambda: "kubectl")
    monkeypatch.setattr(containers, "VOLUMES", tmp_path / "volumes")
    engine = Recorded({"docker images": "kindest/node:v1.34.0"})
    containers.create(engine)
    assert [one[0] for one in engine.asked] == ["docker", "kind", "kubectl"]
    assert "--all" in engine.asked[-1]
    assert (tmp_path / "volumes").is_dir()


def test_a_node_image_of_ours_takes_the_place_of_older_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers.node_image, "get", lambda: Image(name="kind-node", key="2"))
    engine = Recorded({"localhost/kind-node": "localhost/kind-node:1"})
    assert containers.node(engine) == "localhost/kind-node:2"
    assert engine.asked[-1] == ("docker", "rmi", "localhost/kind-node:1")
    there = Recorded({"localhost/kind-node": "localhost/kind-node:2"})
    assert containers.node(there) == "localhost/kind-node:2"
    assert {one[1] for one in there.asked} == {"images"}


def test_a_running_cluster_of_another_minor_is_not_taken_for_the_wanted_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers.programs, "kind", lambda: Path("kind"))
    monkeypatch.setattr(cluster, "refusal", lambda: None)
    engine = Recorded({"get clusters": "streamjob-e2e", "get nodes": "v1.34.3"})
    monkeypatch.setattr(cluster.engine, "find", lambda: engine)
    cluster.start()
    monkeypatch.setenv("KUBERNETES", "1.30")
    with pytest.raises(SystemExit, match=r"runs Kubernetes 1\.34, 1\.30 is wanted: end it by .* -m e2e\.kind stop"):
        cluster.start()
