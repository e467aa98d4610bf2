"""When a call to the API server is made again, and when it is given up. Pure but for the sleeping."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from streamjob_operator.doubling import doubled_s
from streamjob_operator.kube.api.refusals import refusal
from streamjob_operator.ports import Unavailable

T = TypeVar("T")
LONGEST_SAID = 500
PASSING = (429, 500, 502, 503, 504)
"""Answers of a server that is busy, starting, stopping, or behind a proxy that lost it."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """How often and how long. Waits double from `first_s` to `longest_s`, each shortened by chance to half at most.

    A Retry-After of the server is waited for, up to `longest_s`.
    """

    attempts: int = 6
    first_s: float = 0.2
    longest_s: float = 5.0
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random  # within [0, 1)

    def call(self, what: str, ask: Callable[[], T]) -> T:
        """The answer; raises Unavailable after the last attempt, and what is not worth another one at once."""
        for attempt in range(self.attempts):
            try:
                return ask()
            except (ApiException, HTTPError, OSError) as error:
                if not passing(error):
                    raise
                if attempt == self.attempts - 1:
                    raise Unavailable(f"The API server did not {what}: {sentence(error)}.") from error
                self.sleep(self.wait_s(attempt, error))
        raise AssertionError("attempts must be at least 1")

    def wait_s(self, attempt: int, error: Exception) -> float:
        """Seconds before the next attempt; `attempt` counts from 0."""
        asked = _retry_after_s(error)
        if asked is not None:
            return min(asked, self.longest_s)
        return doubled_s(self.first_s, attempt, self.longest_s) * (1 - self.chance() / 2)


def passing(error: Exception) -> bool:
    """Whether the same call may well succeed later. A failed connection and a bad certificate are both status 0."""
    return error.status in (0, *PASSING) if isinstance(error, ApiException) else True


def sentence(error: Exception) -> str:
    """What went wrong, in one line: in the API server's words where it has some, a webhook's among them."""
    if isinstance(error, ApiException) and error.status:
        said = " ".join(refusal(error).message.split()).rstrip(".")[:LONGEST_SAID]
        return said if said.startswith(str(error.status)) else f"{error.status} {error.reason}: {said}"
    return " ".join(str(getattr(error, "reason", None) or error).split()) or type(error).__name__


def _retry_after_s(error: Exception) -> float | None:
    headers: Mapping[str, str] = getattr(error, "headers", None) or {}
    text = headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else None
