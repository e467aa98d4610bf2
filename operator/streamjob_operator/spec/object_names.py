"""Names of other objects of the cluster that a StreamJob refers to: nothing that could be read as a path."""

from __future__ import annotations

from typing import Annotated

from annotated_types import MaxLen

from streamjob_operator.spec.rules import matches, shaped

_NAME = r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?"
_LONGEST = 253


def _hint(what: str) -> str:
    return f"the name of a {what} is needed: lower-case letters, digits, dashes and dots"


ConfigMapName = Annotated[str, MaxLen(_LONGEST), shaped(_NAME, _hint("ConfigMap")), matches(_NAME, _hint("ConfigMap"))]
SecretName = Annotated[str, MaxLen(_LONGEST), shaped(_NAME, _hint("Secret")), matches(_NAME, _hint("Secret"))]
DriverName = Annotated[
    str,
    MaxLen(_LONGEST),
    shaped(_NAME, _hint("SparkApplication or Pod")),
    matches(_NAME, _hint("SparkApplication or Pod")),
]
