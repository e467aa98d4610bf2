"""A container that outlived its containerd is ended, with what it started; nobody else's is."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.cluster import node

CHILD = "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid, flush=True); import time; time.sleep(60)"


@pytest.fixture
def shim(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that looks like containerd's shim, and has a child."""
    program = tmp_path / "containerd-shim-runc-v2"
    program.symlink_to(sys.executable)
    folder = tmp_path / "node"
    command = [str(program), "-c", CHILD, "-address", str(node.socket(folder))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        yield running, folder
        running.kill()


def _ended(pid: int) -> bool:
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True


def test_a_shim_of_the_folder_ends_with_its_children(shim: tuple[subprocess.Popen[str], Path]) -> None:
    running, folder = shim
    assert running.stdout is not None
    child = int(running.stdout.readline())
    node.end_leftovers(folder)
    assert running.wait(10) == -9
    until_s = time.monotonic() + 10.0
    while not _ended(child) and time.monotonic() < until_s:
        time.sleep(0.05)
    assert _ended(child)


def test_a_shim_of_another_folder_is_left_alone(shim: tuple[subprocess.Popen[str], Path], tmp_path: Path) -> None:
    running, _ = shim
    node.end_leftovers(tmp_path / "another")
    assert running.poll() is None
