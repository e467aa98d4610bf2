"""What surrounds drivers: processes that are stopped for a while, a file system that one of them serves, a drain."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jobs import around
from jobs.acts import Harm, Victim
from jobs.processes import listener
from jobs.stalls import stalls
from jobs.store import serving


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        yield process
        process.kill()


def state(process: int) -> str:
    """As the kernel tells it: T is stopped."""
    return (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[0]


def until(met: Callable[[], bool]) -> bool:
    until_s = time.monotonic() + 60
    while not (found := met()) and time.monotonic() < until_s:
        time.sleep(0.02)
    return found


def test_a_process_is_stopped_goes_on_by_itself_and_at_the_end(sleeper: subprocess.Popen[bytes]) -> None:
    with stalls() as some:
        assert some.begin(sleeper.pid, 600.0)
        assert until(lambda: state(sleeper.pid) == "T")
        assert not some.begin(sleeper.pid, 0.0)  # it is stopped
    assert until(lambda: state(sleeper.pid) != "T")
    with stalls() as some:
        assert some.begin(sleeper.pid, 0.2)
        assert until(lambda: state(sleeper.pid) != "T")
        assert until(lambda: some.begin(sleeper.pid, 0.0))
    sleeper.kill()
    sleeper.wait()
    with stalls() as some:
        assert not some.begin(sleeper.pid, 1.0)


def test_who_listens_is_found_by_the_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = listener(port)
        assert found is not None
        assert f"socket:[{os.fstat(server.fileno()).st_ino}]" in set(_links(found))
    assert listener(port) is None
    with (
        pytest.raises(ValueError, match=r"bootstrap: 127\.0\.0\.1:1 given; no process of this machine"),
        around.machine(tmp_path, Harm(broker=True), "127.0.0.1:1"),
    ):
        pass


def _links(process: int) -> Iterator[str]:
    for file in (Path("/proc") / str(process) / "fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # that which the folder is read with
            yield str(file.readlink())


def test_a_drain_is_asked_for_by_a_file_and_done_when_it_is_gone(tmp_path: Path) -> None:
    with around.machine(tmp_path, Harm(), None) as machine:
        asked = tmp_path / around.ASKED
        assert not machine.drain()
        assert asked.exists()
        assert not machine.drain()
        asked.unlink()
        assert machine.drain()
        assert not machine.drain()  # the next one
        assert asked.exists()
        machine.forget()
        assert not asked.exists()


needs_bindfs = pytest.mark.skipif(
    shutil.which("bindfs") is None or not Path("/dev/fuse").exists(), reason="needs bindfs and FUSE"
)


@needs_bindfs
def test_files_hang_while_their_store_is_stalled_and_nothing_is_left(tmp_path: Path) -> None:
    kept, shown = tmp_path / "kept", tmp_path / "shown"
    with serving(kept, shown) as process:
        with stalls() as some:
            assert some.begin(process, 600.0)
            writer = threading.Thread(target=(shown / "a").write_text, args=("1",))
            writer.start()
            writer.join(1.0)
            assert not (kept / "a").exists()  # nor ever, if the thread has not come to it
        writer.join(60)
        assert (kept / "a").read_text() == "1"
    assert not shown.is_mount()


@needs_bindfs
def test_a_job_finds_its_checkpoints_in_the_store(tmp_path: Path) -> None:
    with around.machine(tmp_path, Harm(minutes=1.0), None) as machine:
        around.served(tmp_path, "a")
        (tmp_path / "a" / "run" / "checkpoint" / "commits").write_text("1")
        assert (tmp_path / around.KEPT / "a" / "commits").read_text() == "1"
        assert machine.stall(Victim.STORE, 0.1)
        assert until(lambda: machine.stall(Victim.STORE, 0.1))


@needs_bindfs
def test_a_store_that_was_killed_is_served_anew(tmp_path: Path) -> None:
    kept, shown = tmp_path / "kept", tmp_path / "shown"
    killed = subprocess.Popen(["bindfs", "-f", str(_made(kept)), str(_made(shown))])
    assert until(shown.is_mount)
    killed.kill()
    killed.wait()
    with serving(kept, shown):
        (shown / "a").write_text("1")
    assert (kept / "a").read_text() == "1"


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
