"""What a reason means and what a person can do: read from the descriptions beside the codes."""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import inspect
import itertools
import textwrap
from collections.abc import Mapping

from streamjob_operator.kube.names import KubeReason
from streamjob_operator.reasons import Reason

TO_DO = "To do:"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """`to_do` is None where there is nothing to do."""

    meaning: str
    to_do: str | None


def meaning_of(code: str) -> Meaning | None:
    """None for a code that is not ours, such as one of the agent's own."""
    return _all().get(code)


@functools.cache
def _all() -> Mapping[str, Meaning]:
    return {**_described(KubeReason), **_described(Reason)}


def _described(codes: type[enum.StrEnum]) -> dict[str, Meaning]:
    (body,) = (node.body for node in ast.parse(textwrap.dedent(inspect.getsource(codes))).body if hasattr(node, "body"))
    found: dict[str, Meaning] = {}
    for one, after in itertools.pairwise(body):
        if isinstance(one, ast.Assign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            name = ast.unparse(one.targets[0])
            found[codes[name].value] = _meaning(" ".join(str(after.value.value).split()))
    return found


def _meaning(text: str) -> Meaning:
    meaning, found, to_do = text.partition(TO_DO)
    return Meaning(meaning=meaning.strip(), to_do=to_do.strip() if found else None)
