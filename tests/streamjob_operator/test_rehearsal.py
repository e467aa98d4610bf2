"""What the build of the operator's image goes through."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from streamjob_cli import rehearsal
from streamjob_cli.rehearsal import open_all, rehearse
from streamjob_planners import registry

SNAPSHOT = Path(__file__).parents[2] / "samples" / "snapshots" / "skewed-keys.json"


def test_every_planner_plans_and_the_operator_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "DEADLINE_S", 0.1)
    assert rehearse(SNAPSHOT) == registry.names()
    assert {"streamjob_operator.kube.process.main", "streamjob_operator.planning_worker"} <= set(sys.modules)
    assert "streamjob_planners.capacity.clusters" in sys.modules  # which no planner loads


def test_a_module_that_the_image_lacks_fails_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "LOADED", ("streamjob_operator.not_there",))
    with pytest.raises(ImportError, match="not_there"):
        rehearse(SNAPSHOT)


def test_a_shared_object_that_does_not_load_fails_the_build(tmp_path: Path) -> None:
    assert open_all(tmp_path) == 0
    (tmp_path / "cut.so").write_bytes(b"\x7fELF and nothing more")
    with pytest.raises(OSError, match="cut"):
        open_all(tmp_path)
