"""Processes of this machine, as the kernel tells them: who began whom, which are Spark's executors, who listens."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator

PROCESSES = pathlib.Path("/proc")
DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
"""Before a command: the kernel kills it when this process ends, however that ends."""
_LISTENS = "0A"
"""The state of a socket in the kernel's tables of TCP."""


def executor_processes(ancestor: int, application_id: str | None = None) -> dict[str, int]:
    """Process ids of the executors that a process started, itself or by others, by executor id.

    With `application_id` those of that application alone; without, each id's newest, of whatever application.
    """
    named = {process: _after(words, "--executor-id") for process, words in _commands(application_id).items()}
    return {name: process for process, name in named.items() if name is not None and ancestor in _ancestors(process)}


def children(process: int) -> list[int]:
    """Process ids of those that it began itself and that have not ended."""
    return [one for one in _running() if next(_ancestors(one), None) == process]


def listener(port: int) -> int | None:
    """The process that listens at a port of TCP; None where there is none, or none whose sockets may be seen."""
    wanted = {f"socket:[{number}]" for number in _listening(port)}
    return next((one for one in _running() if not wanted.isdisjoint(_open(one))), None)


def _listening(port: int) -> Iterator[str]:
    """Numbers of the sockets, of both versions of IP."""
    for table in ("tcp", "tcp6"):
        file = PROCESSES / "net" / table
        for line in file.read_text().splitlines()[1:] if file.exists() else ():
            _, local, _, state, *rest = line.split()
            if state == _LISTENS and int(local.rpartition(":")[2], 16) == port:
                yield rest[5]


def _open(process: int) -> Iterator[str]:
    """What its open files are; nothing where it has ended or is somebody else's."""
    try:
        files = list((PROCESSES / str(process) / "fd").iterdir())
    except OSError:
        return
    for file in files:
        with contextlib.suppress(OSError):  # it has been closed since
            yield str(file.readlink())


def _commands(application_id: str | None) -> dict[int, list[str]]:
    commands = {process: _command(process) for process in _running()}
    return {process: words for process, words in commands.items() if application_id is None or application_id in words}


def _running() -> list[int]:
    return sorted(int(folder.name) for folder in PROCESSES.iterdir() if folder.name.isdigit())


def _ancestors(process: int) -> Iterator[int]:
    while process > 1:
        try:
            # The name, in brackets, may hold blanks and brackets itself.
            stat = (PROCESSES / str(process) / "stat").read_text()
        except OSError:  # it has ended since
            return
        process = int(stat.rpartition(")")[2].split()[1])
        yield process


def _command(process: int) -> list[str]:
    try:
        return (PROCESSES / str(process) / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:  # the process has ended since the listing
        return []


def _after(words: list[str], word: str) -> str | None:
    return words[words.index(word) + 1] if word in words[:-1] else None
