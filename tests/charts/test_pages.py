"""Every page: links lead somewhere, headings that are named are there, rows have as many cells as their table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    path
    for path in (
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "samples").rglob("*.md"),
        *(ROOT / "charts").rglob("*.md"),
    )
    if not path.name.endswith((".template.md", ".head.md"))
]


def prose(page: Path) -> Iterator[str]:
    """Lines that are no code."""
    code = False
    for line in page.read_text(encoding="utf-8").splitlines():
        code ^= line.startswith("```")
        if not code and not line.startswith("    "):
            yield re.sub(r"`[^`]*`", "", line)


def anchors(page: Path) -> set[str]:
    """As GitHub names headings; one that stands twice counts once."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    shown = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", one).lower() for one in headings)
    return {re.sub(r"[^\w\- ]", "", one).strip().replace(" ", "-") for one in shown}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"(?<!\\)\]\(([^)\s]+)\)", "\n".join(prose(page))):
        name, _, anchor = link.partition("#")
        if ":" in name:
            continue
        target = page.parent / name if name else page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_rows_have_as_many_cells_as_their_table(page: Path) -> None:
    cells = 0
    for line in page.read_text(encoding="utf-8").splitlines():
        row = line.strip()
        if not row.startswith("|"):
            cells = 0
            continue
        found = len(re.findall(r"(?<!\\)\|", row))
        cells = cells or found
        assert found == cells, row


def test_every_decision_is_in_the_list_of_them() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(path.name for path in folder.glob("[0-9]*.md"))
