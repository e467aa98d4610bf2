"""What the API server says no with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kubernetes.client.exceptions import ApiException


class Refused(Exception):
    """The API server said no, and would say so again. `status` is the HTTP status, `reason` Kubernetes' own code."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message


class Forbidden(Refused):
    """403: rights, or a rule of the cluster, do not allow it."""


class NotFound(Refused):
    """404: the object, its namespace, or its kind is not there."""


class Conflict(Refused):
    """409: another one was faster (resourceVersion), owns a field (apply), or the name is taken (create)."""


class Gone(Refused):
    """410: the resource version is too old to watch from."""


UNKNOWN = 401
WHO_ASKS = "The API server does not know who asks (401 Unauthorized): the token or certificate is wrong or has expired."
"""In place of its own sentence, which is one word."""

_KINDS: Mapping[int, type[Refused]] = {403: Forbidden, 404: NotFound, 409: Conflict, 410: Gone}


def refusal(error: ApiException) -> Refused:
    """The exception for an answer of the API server, with its own sentence where it has one."""
    try:
        document = json.loads(error.body or "")
    except ValueError:
        document = {}
    status = document if isinstance(document, dict) else {}
    return from_status({"code": error.status, "message": f"{error.status} {error.reason}", **status})


def from_status(status: Mapping[str, Any]) -> Refused:
    """The exception for a `Status` object."""
    code = int(status.get("code") or 0)
    message = WHO_ASKS if code == UNKNOWN else str(status.get("message", ""))
    return _KINDS.get(code, Refused)(code, str(status.get("reason", "")), message)
