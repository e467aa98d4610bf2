"""docs/figures/<paper>.md: what this folder says about a paper, with what its figures' programs left in out/figures.

Run with `python -m benchmarks.figures.papers.page`, after some or all of the programs. In a text, a line `{{name}}` is
where that program's picture and statements go; those of a program that said nothing anew stay as the page has them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from benchmarks.figures.publish import shrunk
from benchmarks.figures.report import FOLDER

TEXTS, PAGES = Path(__file__).parent, Path("docs/figures")
HEADER = "| where | the paper | ours | holds |\n|---|---|---|---|"


def main() -> None:
    """Writes a page for each text whose figures are all there."""
    for text in sorted(TEXTS.glob("*.md")):
        words, page = text.read_text(encoding="utf-8"), PAGES / text.name
        figures = {name: _figures(name, page) for name in re.findall(r"^\{\{(\w+)\}\}$", words, re.MULTILINE)}
        missing = [name for name, one in figures.items() if one is None]
        if missing:
            print(f"{text.name}: run {', '.join(missing)} first")
            continue
        for name, figure in figures.items():
            words = words.replace(f"{{{{{name}}}}}", f"{figure}")
        PAGES.mkdir(parents=True, exist_ok=True)
        page.write_text(words, encoding="utf-8")
        print(f"wrote {page}")


def _said(name: str) -> Path:
    return FOLDER / f"{name}.json"


def _figures(name: str, page: Path) -> str | None:
    """A picture and a table of statements: what the program left, or else what the page has; None without either."""
    if not _said(name).exists():
        before = page.read_text(encoding="utf-8") if page.exists() else ""
        found = re.search(rf"^!\[{name}\]\([^\n]*\n\n(?:\|[^\n]*\n)+", before, re.MULTILINE)
        return None if found is None else found[0].rstrip("\n")
    rows = "\n".join(
        f"| {one['where']} | {one['paper']} | {one['ours']} | {'yes' if one['holds'] else '**no**'} |"
        for one in json.loads(_said(name).read_text(encoding="utf-8"))
    )
    return f"![{name}](../pictures/{shrunk(name).name})\n\n{HEADER}\n{rows}"


if __name__ == "__main__":
    main()
