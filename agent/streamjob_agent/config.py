"""The agent's configuration, from environment variables. A bad value never stops the job: the default is used."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

PREFIX = "STREAMJOB_AGENT_"
_MAP_NAME = re.compile(r"[a-z0-9][-a-z0-9]*/[a-z0-9][-.a-z0-9]*")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig:
    """How the agent serves, remembers and paces its own work.

    Attributes:
        host: address the HTTP server binds; 0.0.0.0 for every interface, by IPv4 and IPv6.
        port: TCP port, 0 to 65535; 0 takes any free one.
        address_file: file that gets `http://host:port` once the server listens; none is written without.
        state_dir: folder that remembers the last assignment over a restart of the driver; without, nothing is.
        token: what a PUT must carry as `Authorization: Bearer ...`; without, the agent makes one, for its own user.
        poll_s: longest pause between two looks at Spark when no batch ends, 0.05 to 60 s; where nothing moves and
            nothing changes, at least 5 s.
        overhead_ratio: share of the time that the agent's own work may take before it looks less often, 0.001 to 1.
        traffic_min_bytes: pairs of key groups that exchange less in a batch get no series, 1 or more.
        traffic_max_pairs: most series of traffic, 0 to 100,000; 0 turns them off.
        partition_map: `namespace/name` of the PartitionMap to follow on Kubernetes.
        stop_grace_s: time that SIGTERM gives the queries to come to the end of a batch, 1 to 86,400 s; without,
            SIGTERM is left to the program.
        failed_after: batches after which a move that Spark has not obeyed is reported as failed, 1 to 1000.
    """

    host: str = "127.0.0.1"
    port: int = 0
    address_file: str | None = None
    state_dir: str | None = None
    token: str | None = dataclasses.field(default=None, repr=False)
    poll_s: float = 1.0
    overhead_ratio: float = 0.02
    traffic_min_bytes: int = 1024
    traffic_max_pairs: int = 2000
    failed_after: int = 5
    stop_grace_s: float | None = None
    partition_map: str | None = None

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> tuple[AgentConfig, tuple[str, ...]]:
        """Read `STREAMJOB_AGENT_PORT` and so on; also gives a sentence for each value that could not be used."""
        values: dict[str, Any] = {}
        complaints: list[str] = []
        for name, read in _READERS.items():
            text = environ.get(PREFIX + name.upper(), "")
            if text:
                try:
                    values[name] = read(text)
                except ValueError as error:
                    shown = "a value" if name == "token" else repr(text)
                    complaints.append(f"{PREFIX}{name.upper()}: {shown} given, {error} is needed; the default is used.")
        return cls(**values), tuple(complaints)


def _text(value: str) -> str:
    if not value.isprintable() or value != value.strip():
        raise ValueError("text without line breaks or blanks at its ends")
    return value


def _namespace_and_name(value: str) -> str:
    if not _MAP_NAME.fullmatch(value):
        raise ValueError("namespace/name of a PartitionMap")
    return value


def _whole(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = int(text) if text.isdecimal() else -1
        if not low <= number <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return number

    return read


def _number(low: float, high: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not low <= number <= high:  # also false for NaN
            raise ValueError(f"a number from {low:g} to {high:g}")
        return number

    return read


_READERS: Mapping[str, Callable[[str], Any]] = {
    "host": _text,
    "port": _whole(0, 65535),
    "address_file": _text,
    "state_dir": _text,
    "token": _text,
    "poll_s": _number(0.05, 60.0),
    "overhead_ratio": _number(0.001, 1.0),
    "traffic_min_bytes": _whole(1, 2**62),
    "traffic_max_pairs": _whole(0, 100_000),
    "failed_after": _whole(1, 1000),
    "partition_map": _namespace_and_name,
    "stop_grace_s": _number(1.0, 86_400.0),
}
