"""What a cluster left behind is ended and removed, be it a node's or all nodes'; nobody else's is."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.cluster import leftovers, runtime

CHILD = "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid, flush=True); import time; time.sleep(60)"


@pytest.fixture
def shim(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that looks like containerd's shim, and has a child."""
    program = tmp_path / "containerd-shim-runc-v2"
    program.symlink_to(sys.executable)
    folder = tmp_path / "node"
    command = [str(program), "-c", CHILD, "-address", str(runtime.socket(folder))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        yield running, folder
        running.kill()


def _ended(pid: int) -> bool:
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True


@pytest.mark.parametrize("whose", ["the node's", "all nodes'"])
def test_a_shim_of_the_folder_ends_with_its_children(shim: tuple[subprocess.Popen[str], Path], whose: str) -> None:
    running, folder = shim
    assert running.stdout is not None
    child = int(running.stdout.readline())
    leftovers.end(folder if whose == "the node's" else folder.parent)
    assert running.wait(10) == -9
    until_s = time.monotonic() + 10.0
    while not _ended(child) and time.monotonic() < until_s:
        time.sleep(0.05)
    assert _ended(child)


@pytest.mark.parametrize("another", ["another", "nod", "node/below"])
def test_a_shim_of_another_folder_is_left_alone(
    shim: tuple[subprocess.Popen[str], Path], tmp_path: Path, another: str
) -> None:
    running, _ = shim
    leftovers.end(tmp_path / another)
    assert running.poll() is None


def test_records_of_our_pods_networks_go_with_their_loopbacks(tmp_path: Path) -> None:
    ours, theirs = "a" * 64, "b" * 64
    for name in (f"streamjob-pods-{ours}-eth0", f"cni-loopback-{ours}-lo"):
        (tmp_path / name).touch()
    kept = {f"cni-loopback-{theirs}-lo", f"pods-{theirs}-eth0", "something"}
    for name in kept:
        (tmp_path / name).touch()
    leftovers.forget_pod_networks(tmp_path)
    assert {one.name for one in tmp_path.iterdir()} == kept


def test_without_records_there_is_nothing_to_forget(tmp_path: Path) -> None:
    leftovers.forget_pod_networks(tmp_path / "none")
