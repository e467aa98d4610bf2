"""A branch of the control groups for a further node: two kubelets must not share one."""

from __future__ import annotations

import contextlib
from pathlib import Path

MOUNTED = Path("/sys/fs/cgroup")
_INHERITED = ("cpuset.mems", "cpuset.cpus")
"""A new group of cgroup v1 has none of these, and takes no process before it has."""


def make(name: str, mounted: Path = MOUNTED) -> None:
    """Make the group below every controller, or below the one hierarchy of cgroup v2."""
    for hierarchy in _hierarchies(mounted):
        group = hierarchy / name
        group.mkdir(exist_ok=True)
        for setting in _INHERITED:
            if (hierarchy / setting).exists():
                (group / setting).write_text((hierarchy / setting).read_text(encoding="ascii"), encoding="ascii")


def remove(name: str, mounted: Path = MOUNTED) -> None:
    """Remove it with all below it, also where others made it: beside version 1, a kubelet makes one of version 2.

    A group that still holds a process stays; the next node of that name takes it.
    """
    for group in (mounted / name, *mounted.glob(f"*/{name}")):
        below = [one for one in group.rglob("*") if one.is_dir()]
        for one in (*sorted(below, key=lambda path: len(path.parts), reverse=True), group):
            with contextlib.suppress(OSError):
                one.rmdir()


def _hierarchies(mounted: Path) -> tuple[Path, ...]:
    if (mounted / "cgroup.controllers").exists():
        return (mounted,)
    return tuple(one for one in sorted(mounted.iterdir()) if not one.is_symlink() and (one / "tasks").exists())
