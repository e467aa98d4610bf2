"""The commands of docs/user, as they are written there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

PAGES = Path(__file__).parents[2] / "docs" / "user"
PROGRAMS = ("docker", "helm", "kubectl", "make", "pip", "python3", "streamjob")
_OPTION = "--set"
_CODE_INDENT = 4
_SPAN = re.compile(r"`([^`]+)`")


def documented(folder: Path = PAGES) -> frozenset[str]:
    """Every command of the pages: of indented code, its continued lines joined, and of code within a sentence.

    An option of helm (`--set ...`) within a sentence counts. A mention, which is the beginning of another command, does
    not: `helm test` beside `helm test streamjob --namespace ...`.
    """
    found = {one for page in sorted(folder.glob("*.md")) for one in commands(page.read_text(encoding="utf-8"))}
    return frozenset(one for one in found if not any(other.startswith(f"{one} ") for other in found))


def commands(text: str) -> Iterator[str]:
    """Those of one page, mentions included."""
    prose: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        if len(line) - len(line.lstrip()) >= _CODE_INDENT and _is_command(line.strip()):
            yield _joined(line, lines)
        else:
            prose.append(line.strip())
    for span in _SPAN.findall(" ".join(prose)):
        if _is_command(span):
            yield span


def _joined(line: str, following: Iterator[str]) -> str:
    parts = [line.strip()]
    while parts[-1].endswith("\\"):
        parts[-1] = parts[-1].removesuffix("\\").strip()
        parts.append(next(following).strip())
    return " ".join(parts)


def _is_command(text: str) -> bool:
    first, _, rest = text.partition(" ")
    return bool(rest) and first in (*PROGRAMS, _OPTION)
