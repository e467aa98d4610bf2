"""Durations and byte sizes as people write them: 90s, 5m, 1h30m; 512Mi, 2Gi, 1.5G."""

from __future__ import annotations

import math
import re
from typing import Annotated

from pydantic import BeforeValidator

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {"": 1.0}
_BYTES.update({prefix: 1000.0**power for power, prefix in enumerate("kMGTP", start=1)})
_BYTES.update({f"{prefix}i": 1024.0**power for power, prefix in enumerate("KMGTP", start=1)})
DURATION_PATTERN = r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d))+"
_DURATION = re.compile(DURATION_PATTERN)
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
SIZE_PATTERN = r"([0-9]+(?:\.[0-9]+)?)(|[kMGTP]|[KMGTP]i)"
_SIZE = re.compile(SIZE_PATTERN)
SPARK_SIZE = re.compile(r"([0-9]+)\s*([kmgtKMGT]?)[iI]?[bB]?")
LEAST_OVERHEAD_MIB = 384.0
"""Least memory that Spark gives a container beside a heap."""
_MIB = {"k": 1 / 1024, "": 1.0, "m": 1.0, "g": 1024.0, "t": 1024.0**2}

DURATION_HINT = "a duration such as 500ms, 90s, 5m or 1h30m is needed"
SIZE_HINT = "a byte size such as 500M, 512Mi or 2Gi is needed"


def parse_duration(value: object) -> float:
    """Seconds of "1h30m" and the like; raises ValueError that says what is allowed."""
    if not isinstance(value, str) or not _DURATION.fullmatch(value):
        raise ValueError(DURATION_HINT)
    parts = [float(number) * _SECONDS[unit] for number, unit in _DURATION_PART.findall(value)]
    if not math.isfinite(sum(parts)):
        raise ValueError(DURATION_HINT)
    return math.fsum(parts)


def parse_size(value: object) -> float:
    """Bytes of "2Gi" and the like, or of a whole number; raises ValueError that says what is allowed."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    match = _SIZE.fullmatch(text) if isinstance(text, str) else None
    size = math.inf if match is None else float(match[1]) * _BYTES[match[2]]
    if not math.isfinite(size):
        raise ValueError(SIZE_HINT)
    return size


def mebibytes(text: object) -> float | None:
    """A size as Spark writes it, MiB where it has no unit; None for another text."""
    match = SPARK_SIZE.fullmatch(str(text))
    return None if match is None else int(match[1]) * _MIB[match[2].lower()]


def overhead_mib(heap_mib: float, factor: float, least_mib: float = LEAST_OVERHEAD_MIB) -> float:
    """What Spark gives a container beside a heap, where nobody says how much."""
    return max(least_mib, factor * heap_mib)


def format_duration(seconds: float) -> str:
    """The shortest way to write a duration: 5400 is 1h30m, 0.5 is 500ms."""
    if seconds < 1:
        return f"{seconds * 1000:g}ms" if seconds else "0s"
    text, left = "", seconds
    for unit in ("d", "h", "m"):
        count, left = divmod(left, _SECONDS[unit])
        text += f"{count:.0f}{unit}" if count else ""
    return text + (f"{left:g}s" if left else "")


def format_size(size: float) -> str:
    """The largest binary unit that gives a round number: 2147483648 is 2Gi."""
    for power in range(5, 0, -1):
        if size >= 1024**power and size % 1024**power == 0:
            return f"{size / 1024**power:g}{'KMGTP'[power - 1]}i"
    return f"{size:g}"


class DurationText:
    """Marks a field that is written as a duration, held in seconds."""


class SizeText:
    """Marks a field that is written as a byte size, held in bytes."""


Duration = Annotated[float, DurationText(), BeforeValidator(parse_duration)]
Size = Annotated[float, SizeText(), BeforeValidator(parse_size)]
