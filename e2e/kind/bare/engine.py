"""A Docker engine of our own in a network namespace of its own, for a machine where none answers. Needs root."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from e2e.cluster import leftovers
from e2e.cluster.binary import cache
from e2e.kind.bare import capabilities

FOLDER = Path("/var/tmp/streamjob-kind")
NAMESPACE = "streamjob-kind"
ENTER = ("nsenter", f"--net=/run/netns/{NAMESPACE}", "--")
SOCKET = f"unix://{FOLDER}/docker.sock"
START_S, END_S = 120.0, 60.0


def configuration(folder: Path, store: Path) -> dict[str, Any]:
    """dockerd's own file: everything below our folders, and containers by a runtime that asks for less."""
    runtime = {"path": sys.executable, "runtimeArgs": [capabilities.__file__]}
    return {
        "hosts": [SOCKET],
        "data-root": str(store),
        "exec-root": str(folder / "exec"),
        "pidfile": str(folder / "docker.pid"),
        "storage-driver": "overlay2",
        "runtimes": {"what-is-there": runtime},
        "default-runtime": "what-is-there",
    }


def pid() -> int | None:
    """The engine's process, None when it does not run."""
    try:
        number = int((FOLDER / "docker.pid").read_text())
        command = Path(f"/proc/{number}/cmdline").read_bytes()
    except (OSError, ValueError):
        return None
    return number if b"dockerd" in command else None


def start() -> None:
    """Start it unless it runs, and wait until it answers; raises RuntimeError with the end of its log."""
    if pid() is not None:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    _forget()
    _make_network()
    file, log = FOLDER / "daemon.json", FOLDER / "dockerd.log"
    file.write_text(json.dumps(configuration(FOLDER, _store())), encoding="utf-8")
    with log.open("wb") as out:
        command = [*ENTER, "dockerd", f"--config-file={file}"]
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
    until_s = time.monotonic() + START_S
    while not answers({**os.environ, "DOCKER_HOST": SOCKET}):
        if time.monotonic() > until_s:
            raise RuntimeError(f"dockerd did not answer within {START_S:.0f} s:\n{log.read_text()[-2000:]}")
        time.sleep(0.5)


def stop() -> None:
    """End it, its containers and its network. Its images stay in the cache."""
    number = pid()
    if number is not None:
        os.kill(number, signal.SIGTERM)
        until_s = time.monotonic() + END_S
        while pid() is not None and time.monotonic() < until_s:
            time.sleep(0.2)
    if pid() is not None:
        raise RuntimeError(f"dockerd (process {number}) has not ended within {END_S:.0f} s")
    _forget()
    subprocess.run(["ip", "netns", "delete", NAMESPACE], capture_output=True, check=False)
    shutil.rmtree(FOLDER, ignore_errors=True)


def answers(environment: dict[str, str]) -> bool:
    """Whether a Docker engine answers its client in this environment."""
    if shutil.which("docker") is None:
        return False
    command = ["docker", "version", "--format={{.Server.Version}}"]
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0


def _store() -> Path:
    return cache() / "docker"


def _forget() -> None:
    """End what an engine left behind: containers of one that was killed, mounts of any."""
    for folder in (FOLDER, _store()):
        leftovers.end(folder)


def _make_network() -> None:
    if not Path("/run/netns", NAMESPACE).exists():
        subprocess.run(["ip", "netns", "add", NAMESPACE], check=True)
        subprocess.run(["ip", "-n", NAMESPACE, "link", "set", "lo", "up"], check=True)
