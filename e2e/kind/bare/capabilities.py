"""An OCI runtime for a machine that lacks capabilities: asks runc for those that there are.

Docker gives a privileged container every capability that it knows; when one cannot be given, runc refuses them all.
Docker calls this file in runc's place, with runc's arguments; needs nothing but Python's own modules.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NAMES: list[str] = re.findall(
    r"\w+",
    """CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE
    NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN
    SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE
    MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE""",
)
"""By their numbers (capabilities(7), linux/capability.h)."""
STATUS = Path("/proc/self/status")


def there(status: str) -> frozenset[str]:
    """The capabilities that a process may have, from the text of its /proc/PID/status."""
    mask = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapBnd:"))
    return frozenset(f"CAP_{name}" for number, name in enumerate(NAMES) if mask >> number & 1)


def cut(process: dict[str, Any], kept: frozenset[str]) -> dict[str, Any]:
    """An OCI process that asks for no other capabilities than these."""
    asked: dict[str, list[str]] | None = process.get("capabilities")
    if not asked:
        return process
    return {**process, "capabilities": {kind: [one for one in names if one in kept] for kind, names in asked.items()}}


def files(arguments: Sequence[str]) -> tuple[Path | None, Path | None]:
    """The files that runc's arguments name: that of a container, that of a process that is to run in one."""
    if "exec" in arguments:
        told = _option(arguments, "--process", "-p")
        return None, Path(told) if told else None
    if "create" in arguments or "run" in arguments:
        return Path(_option(arguments, "--bundle", "-b") or ".", "config.json"), None
    return None, None


def main(arguments: Sequence[str]) -> None:
    """Cut what the files ask for, and become runc."""
    kept = there(STATUS.read_text(encoding="utf-8"))
    container, process = files(arguments)
    if container:
        document = json.loads(container.read_text(encoding="utf-8"))
        container.write_text(json.dumps({**document, "process": cut(document["process"], kept)}), encoding="utf-8")
    if process:
        process.write_text(json.dumps(cut(json.loads(process.read_text(encoding="utf-8")), kept)), encoding="utf-8")
    os.execvp("runc", ["runc", *arguments])


def _option(arguments: Sequence[str], *names: str) -> str | None:
    for one, following in zip(arguments, (*arguments[1:], ""), strict=True):
        if one in names:
            return following
        if one.partition("=")[0] in names:
            return one.partition("=")[2]
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
