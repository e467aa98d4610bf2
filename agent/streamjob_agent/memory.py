"""The last accepted assignments on disk: a hint for the placement after a restart of the driver."""

from __future__ import annotations

import hashlib
import pathlib

from streamjob_agent.drafts import write_whole
from streamjob_agent.wire import Assignment, WireError, assignment_from_json, assignment_to_json

_SUFFIX = ".assignment.json"
_MOST = 64  # files that are read at the driver's start


class AssignmentMemory:
    """One file for each query in a folder. Every method may raise OSError; None as folder remembers nothing."""

    def __init__(self, folder: str | None) -> None:
        self._folder = pathlib.Path(folder) if folder else None

    def save(self, assignment: Assignment) -> None:
        """Save atomically: a crash leaves the old or the new assignment, never half of one."""
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._path(assignment.query_id), assignment_to_json(assignment), lasting=True)

    def load(self, query_id: str) -> Assignment | None:
        """The query's last assignment; None when there is none or the file is not one."""
        if self._folder is None:
            return None
        path = self._path(query_id)
        if not path.exists():
            return None
        found = _readable(path)
        return found if found is not None and found.query_id == query_id else None

    def all(self) -> tuple[Assignment, ...]:
        """The last assignments of every query, the newest files only when there are many."""
        if self._folder is None or not self._folder.is_dir():
            return ()
        paths = sorted(self._folder.glob(f"*{_SUFFIX}"), key=_written_s)[-_MOST:]
        found = (_readable(path) for path in paths)
        return tuple(one for one in found if one is not None)

    def _path(self, query_id: str) -> pathlib.Path:
        assert self._folder is not None
        name = hashlib.sha256(query_id.encode()).hexdigest()[:32]  # a query id is foreign text, not a file name
        return self._folder / f"{name}{_SUFFIX}"


def _written_s(path: pathlib.Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _readable(path: pathlib.Path) -> Assignment | None:
    try:
        return assignment_from_json(path.read_bytes())
    except (OSError, WireError):  # of another version or user, damaged, gone: a hint is not worth more than that
        return None


def hinted_owners(assignment: Assignment) -> dict[int, tuple[str | None, ...]]:
    """Who shared an executor, by old ids or by the places of the next start: operator -> for each of its partitions.

    None for groups that were left alone or being drained; all others are where the plan had them.
    """
    if assignment.next_start:
        places = assignment.next_start.items()
        return {operator: tuple(None if place is None else str(place) for place in row) for operator, row in places}
    shut = assignment.marked_for_removal
    owners = assignment.owners.items()
    return {operator: tuple(None if owner in shut else owner for owner in row) for operator, row in owners}
