"""The token that an assignment must carry, and where agent and controller of one user find it without being told.

It lies in a file of the user's home that nobody else may read, named by machine and port: whoever may read it could
do everything that the agent can do anyway.
"""

from __future__ import annotations

import os
import pathlib
import secrets
import socket
import stat
import tempfile
import urllib.parse

from streamjob_agent.drafts import write_whole


def folders() -> tuple[pathlib.Path, ...]:
    """Where the file may be, the best place first: a home can be missing or read-only."""
    elsewhere = pathlib.Path(tempfile.gettempdir()) / f"streamjob-{os.getuid()}"
    try:
        return (pathlib.Path("~/.streamjob/agents").expanduser(), elsewhere)
    except RuntimeError:  # a container's user may be known by number alone, without HOME
        return (elsewhere,)


def publish(port: int) -> tuple[str, pathlib.Path]:
    """Make a token for the agent at this port, and its file; raises OSError when no folder will do."""
    token = secrets.token_urlsafe(32)
    failures: list[str] = []
    for folder in folders():
        try:
            return token, _write(folder, _name(port), token)
        except OSError as error:
            failures.append(str(error))
    raise OSError(f"no folder takes the token: {'; '.join(failures)}")


def _write(folder: pathlib.Path, name: str, token: str) -> pathlib.Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _private(folder):
        raise PermissionError(f"{folder} belongs to somebody else, or others may write there")
    return write_whole(folder / name, token)


def find(address: str) -> str | None:
    """The token of the agent at `http://host:port`; None when this user has none for it."""
    port = urllib.parse.urlsplit(address).port
    for folder in folders() if port else ():
        path = folder / _name(port or 0)
        try:
            if _private(folder) and _private(path):
                return path.read_text(encoding="utf-8").strip()
        except OSError:
            continue
    return None


def _private(path: pathlib.Path) -> bool:
    """Whether it is the user's own, no link, and nobody else may write there."""
    found = path.lstat()
    return found.st_uid == os.getuid() and not stat.S_ISLNK(found.st_mode) and not found.st_mode & 0o022


def _name(port: int) -> str:
    return f"{socket.gethostname()}-{port}"
