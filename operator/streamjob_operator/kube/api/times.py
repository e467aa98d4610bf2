"""Times as Kubernetes writes them."""

from __future__ import annotations

import datetime


def rfc3339(at_s: float) -> str:
    """Seconds since the epoch as `2026-01-31T12:00:00Z`."""
    return _utc(at_s).strftime("%Y-%m-%dT%H:%M:%SZ")


def rfc3339_micro(at_s: float) -> str:
    """The same with six digits after the second, as events and leases have it."""
    return _utc(at_s).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def seconds(text: str) -> float:
    """Inverse of both; raises ValueError."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def _utc(at_s: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(at_s, datetime.UTC)
