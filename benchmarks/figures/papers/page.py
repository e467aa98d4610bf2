"""docs/figures/<paper>.md: what this folder says about a paper, with what its figures' programs left in out/figures.

Run with `python -m benchmarks.figures.papers.page`, after the programs. In a text, a line `{{name}}` is where that
program's picture and statements go.
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
        words = text.read_text(encoding="utf-8")
        missing = [name for name in re.findall(r"^\{\{(\w+)\}\}$", words, re.MULTILINE) if not _said(name).exists()]
        if missing:
            print(f"{text.name}: run {', '.join(missing)} first")
            continue
        PAGES.mkdir(parents=True, exist_ok=True)
        page = PAGES / text.name
        page.write_text(re.sub(r"^\{\{(\w+)\}\}$", _figures, words, flags=re.MULTILINE), encoding="utf-8")
        print(f"wrote {page}")


def _said(name: str) -> Path:
    return FOLDER / f"{name}.json"


def _figures(found: re.Match[str]) -> str:
    """A picture and a table of statements."""
    name = found.group(1)
    rows = "\n".join(
        f"| {one['where']} | {one['paper']} | {one['ours']} | {'yes' if one['holds'] else '**no**'} |"
        for one in json.loads(_said(name).read_text(encoding="utf-8"))
    )
    return f"![{name}](../pictures/{shrunk(name).name})\n\n{HEADER}\n{rows}"


if __name__ == "__main__":
    main()
