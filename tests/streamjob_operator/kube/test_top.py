"""`kubectl streamjob top --watch`, and commands where the API server has nothing to show, or shows nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from scripted_server import Answer, Script, serving

from streamjob_cli.main import main
from streamjob_operator.kube.kubectl import cli

COMMANDS = (
    *(("top",), ("top", "-A"), ("savings",), ("kube", "plan", "x")),
    *((name, "x") for name in ("history", "explain", "what-if", "approve", "pause", "resume", "stop", "refresh")),
)


class Fake:
    """An API server's list of StreamJobs, and what it serves."""

    def __init__(self, *jobs: dict[str, Any]) -> None:
        self.asked = 0
        self._jobs = list(jobs)

    def list(self, *_: object) -> list[dict[str, Any]]:
        self.asked += 1
        return self._jobs

    def resources(self, *_: object) -> frozenset[str]:
        return frozenset({"streamjobs"})


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Fake]:
    """Makes the API server that commands find."""

    def made(*jobs: dict[str, Any]) -> Fake:
        found = Fake(*jobs)
        monkeypatch.setattr(cli.KubeApi, "from_kubeconfig", lambda *_, **__: found)
        return found

    return made


@pytest.fixture
def script() -> Iterator[Script]:
    with serving(Script(Answer())) as found:
        yield found


def asks(script: Script, folder: Path, *command: str) -> Result:
    """What a command says where that server is the cluster."""
    config = {
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": script.url}}],
        "users": [{"name": "u", "user": {"token": "of-yesterday"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config), encoding="utf-8")
    return CliRunner().invoke(main, [*command, "--kubeconfig", str(path)])


def said(code: int, reason: str, message: str) -> Answer:
    return Answer(status=code, body={"kind": "Status", "code": code, "reason": reason, "message": message})


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_without_the_definitions_is_told_what_brings_them(
    tmp_path: Path, script: Script, command: tuple[str, ...]
) -> None:
    """An empty table was shown, or that there is no such job."""
    script.answers = [Answer(status=404, body="404 page not found\n")]
    told = asks(script, tmp_path, *command)
    assert (told.exit_code, told.stdout) == (1, "")
    assert "serves no streamjobs of streamjob.dev/v1alpha1: StreamJob's CRDs are missing." in told.stderr
    assert "`kubectl apply --server-side -f crds`" in told.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_without_a_right_the_servers_sentence_is_told(tmp_path: Path, script: Script, command: tuple[str, ...]) -> None:
    sentence = 'streamjobs.streamjob.dev is forbidden: User "ann" cannot list resource "streamjobs"'
    script.answers = [said(403, "Forbidden", sentence)]
    told = asks(script, tmp_path, *command)
    assert (told.exit_code, told.stdout, told.stderr) == (1, "", f"Error: {sentence}\n")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_an_expired_token_is_told(tmp_path: Path, script: Script, command: tuple[str, ...]) -> None:
    """It was one word: Unauthorized."""
    script.answers = [said(401, "Unauthorized", "Unauthorized")]
    told = asks(script, tmp_path, *command)
    assert (told.exit_code, told.stdout) == (1, "")
    assert "does not know who asks (401 Unauthorized): the token or certificate is wrong or has expired." in told.stderr


@pytest.mark.parametrize("command", [("top",), ("savings",), ("explain", "x")], ids=" ".join)
def test_a_server_that_is_not_there_is_told(tmp_path: Path, command: tuple[str, ...]) -> None:
    with serving(Script(Answer())) as gone:
        pass
    told = asks(gone, tmp_path, *command)
    assert (told.exit_code, told.stdout, "Connection refused" in told.stderr) == (1, "", True)


@pytest.mark.parametrize(("options", "where"), [((), "namespace shop"), (("-A",), "any namespace")])
def test_where_there_is_no_job_that_is_told(
    monkeypatch: pytest.MonkeyPatch, fake: Callable[..., Fake], options: tuple[str, ...], where: str
) -> None:
    """It was a table of column names."""
    fake()
    done = CliRunner().invoke(cli.main, ["top", "-n", "shop", *options])
    assert (done.exit_code, done.output) == (0, f"There is no StreamJob in {where}.\n")


def test_what_is_watched_takes_text_for_text(monkeypatch: pytest.MonkeyPatch, fake: Callable[..., Fake]) -> None:
    """A bracket in a status, as of a job from a backup, ended the command with rich's own error."""
    job = {"metadata": {"name": "orders", "namespace": "streams"}, "status": {"lastCycle": {"reason": "[/Held]"}}}
    fake(job)

    def interrupted(_: float) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.time, "sleep", interrupted)
    done = CliRunner().invoke(cli.main, ["top", "--watch"])
    assert (done.exit_code, done.stderr) == (0, "")  # Ctrl-C is how it is asked to end
    assert "[/Held]" in done.output


def test_what_is_watched_without_a_terminal_is_written_each_time(
    monkeypatch: pytest.MonkeyPatch, fake: Callable[..., Fake]
) -> None:
    """As into a file or another program, which got nothing before the end."""
    api = fake({"metadata": {"name": "orders", "namespace": "streams"}})

    def third_is_the_last(_: float) -> None:
        if api.asked == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(cli.time, "sleep", third_is_the_last)
    done = CliRunner().invoke(cli.main, ["top", "--watch"])
    assert (done.exit_code, done.output.count("namespace")) == (0, 3)
