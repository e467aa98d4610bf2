"""Jars from Maven's repository, in the cache by what was asked for."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from e2e.cluster.binary import cache


def how_to_get(name: str) -> str:
    """What to tell where Maven is missing."""
    return f"no {name}: its jars come by Maven (Debian: apt-get install maven)"


def jars(wanted: Path, name: str) -> Path:
    """The folder with the dependencies of a POM, fetched where it is not there.

    `name` stands before its digest in the cache. Raises RuntimeError when it cannot be fetched.
    """
    folder = _folder(wanted, name)
    if not folder.exists():
        _fetch(wanted, name, folder)
    return folder


def are_there(wanted: Path, name: str) -> bool:
    """Whether they have been fetched."""
    return _folder(wanted, name).exists()


def can_be_had(wanted: Path, name: str) -> bool:
    """Whether they are there, or Maven to fetch them."""
    return are_there(wanted, name) or shutil.which("mvn") is not None


def _folder(wanted: Path, name: str) -> Path:
    return cache() / f"{name}-{hashlib.sha256(wanted.read_bytes()).hexdigest()[:12]}"


def _fetch(wanted: Path, name: str, folder: Path) -> None:
    program = shutil.which("mvn")
    if program is None:
        raise RuntimeError(how_to_get(name))
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache()) as temporary:
        found = Path(temporary, "jars")
        command = [program, "-q", "-B", "-f", str(wanted), "dependency:copy-dependencies", f"-DoutputDirectory={found}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"Maven did not fetch {wanted.name}: {(done.stdout + done.stderr)[-1000:]}")
        try:
            os.replace(found, folder)
        except OSError:
            if not folder.exists():  # else somebody has fetched the same ones in the meantime
                raise
