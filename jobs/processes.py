"""Processes of this machine, as the kernel tells them: who began whom, and which of them are Spark's executors."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

PROCESSES = pathlib.Path("/proc")


def executor_processes(ancestor: int, application_id: str | None = None) -> dict[str, int]:
    """Process ids of the executors that a process started, itself or by others, by executor id.

    With `application_id` those of that application alone; without, each id's newest, of whatever application.
    """
    named = {process: _after(words, "--executor-id") for process, words in _commands(application_id).items()}
    return {name: process for process, name in named.items() if name is not None and ancestor in _ancestors(process)}


def children(process: int) -> list[int]:
    """Process ids of those that it began itself and that have not ended."""
    return [one for one in _running() if next(_ancestors(one), None) == process]


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
