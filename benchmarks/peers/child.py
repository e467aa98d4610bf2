"""A peer in a child process that is killed when it takes too long; what it had found by then counts."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
from benchmarks.peers.instance import Instance

PYTHON = Path(os.environ.get("PEERS_PYTHON", ".venv-peers/bin/python"))
BUILD_S = 120.0
"""Longest time to build a model."""
OVERRUN_RATIO, OVERRUN_S = 1.2, 2.0
"""A peer is killed at this times its deadline and this many seconds more."""
POLL_S = 0.05


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a peer said: nothing when `node_of` is None. `note` is "" when all went well."""

    node_of: npt.NDArray[np.int64] | None
    build_s: float
    solve_s: float
    note: str


def ask(name: str, instance: Instance, deadline_s: float) -> Answer:
    """Run a peer on an instance. Building its model is not on its clock."""
    with tempfile.TemporaryDirectory(prefix="streamjob-peer-") as folder:
        source, answer, said = (Path(folder) / one for one in ("instance.npz", "answer.npy", "said"))
        instance.save(source)
        command = [str(PYTHON), "-m", "benchmarks.peers.run_peer", name, str(source), str(answer), str(deadline_s)]
        with said.open("w") as out:
            child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
            try:
                note = _watch(child, said, deadline_s)
            finally:
                child.kill()
                child.wait()
        build_s, solve_s = _times(said)
        return Answer(node_of=np.load(answer) if answer.exists() else None, build_s=build_s, solve_s=solve_s, note=note)


def _watch(child: subprocess.Popen[bytes], said: Path, deadline_s: float) -> str:
    """Wait until it ends or must be killed; what went wrong, "" for nothing."""
    limit_s, ready = time.monotonic() + BUILD_S, False
    while child.poll() is None:
        time.sleep(POLL_S)
        if not ready and "ready" in _lines(said):
            ready, limit_s = True, time.monotonic() + OVERRUN_RATIO * deadline_s + OVERRUN_S
        if time.monotonic() > limit_s:
            return "killed" if ready else f"no model within {BUILD_S:g} s"
    if child.returncode == 0:
        return ""
    last = next((line for line in reversed(_lines(said)) if line.strip()), "")
    return f"ended with {child.returncode}: {last[:200]}"


def _lines(said: Path) -> list[str]:
    return said.read_text(encoding="utf-8", errors="replace").splitlines()


def _times(said: Path) -> tuple[float, float]:
    done = next((line.split() for line in reversed(_lines(said)) if line.startswith("done ")), None)
    return (float("nan"), float("nan")) if done is None else (float(done[1]), float(done[2]))
