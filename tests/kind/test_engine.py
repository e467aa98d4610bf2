"""Which Docker engine is taken, and where ours keeps its things."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from e2e.kind import __main__, engine
from e2e.kind.bare import engine as bare


@pytest.mark.parametrize(("code", "is_bare"), [(0, False), (1, True)])
def test_the_engine_that_answers_is_taken(monkeypatch: pytest.MonkeyPatch, code: int, is_bare: bool) -> None:
    monkeypatch.setattr(bare.shutil, "which", lambda name: name)
    monkeypatch.setattr(bare.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], code))
    assert engine.find().is_bare is is_bare


def test_a_shell_for_our_engine_is_in_its_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our engine answers by its socket from anywhere, its containers' ports do not."""
    monkeypatch.setenv("DOCKER_HOST", "")  # so that it is put back
    monkeypatch.delenv("DOCKER_HOST")
    monkeypatch.setenv("KUBECONFIG", "theirs")
    monkeypatch.setattr(engine.bare, "answers", lambda told: told.get("DOCKER_HOST") == bare.SOCKET)
    started: list[list[str]] = []
    monkeypatch.setattr(__main__.os, "execvp", lambda _, command: started.append(command))
    __main__.shell()
    (command,) = started
    assert tuple(command[:-1]) == bare.ENTER
    assert os.environ["DOCKER_HOST"] == bare.SOCKET


def test_without_its_client_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bare.shutil, "which", lambda _: None)
    assert engine.find() is engine.OURS


def test_ours_keeps_all_below_its_folders_and_runs_containers_by_our_runtime(tmp_path: Path) -> None:
    told = bare.configuration(tmp_path / "run", tmp_path / "store")
    assert told["data-root"] == str(tmp_path / "store")
    assert {told["exec-root"], told["pidfile"]} == {f"{tmp_path}/run/exec", f"{tmp_path}/run/docker.pid"}
    assert told["hosts"] == ["unix:///var/tmp/streamjob-kind/docker.sock"]
    runtime = told["runtimes"][told["default-runtime"]]
    assert Path(runtime["runtimeArgs"][0]).name == "capabilities.py"


def test_a_pid_of_another_program_is_not_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bare, "FOLDER", tmp_path)
    assert bare.pid() is None
    (tmp_path / "docker.pid").write_text("1")
    assert bare.pid() is None


def test_what_fails_is_told_with_its_own_words() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)sh -c .* failed:\nno room"):
        engine.Engine().run("sh", "-c", "echo no room; exit 1")
    assert engine.Engine(environment={"GREETING": "hello"}).run("sh", "-c", "printf $GREETING") == "hello"
