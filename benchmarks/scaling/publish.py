"""From the table to what is kept: limits, the page's tables, PNG and HTML."""

from __future__ import annotations

import html
import json
import platform
import re
from pathlib import Path

from benchmarks.scaling import picture, show
from benchmarks.scaling.summary import Scores, document

from streamjob_sim.traces import catalogue

LIMITS, PAGE = Path("benchmarks/limits/scaling.json"), Path("docs/scaling-rules.md")
PICTURE, OUT = Path("docs/pictures/scaling-rules.png"), Path("out/benchmarks/scaling/table.html")
OTHERS = Path("docs/pictures/scaling-rules-seeds.png")
OURS = "batch-time"
"""The rule that the others are held beside."""


def publish(scores: Scores) -> None:
    """Write all four; the page keeps its words, only what stands between its marks is new."""
    before = json.loads(LIMITS.read_text(encoding="utf-8"))
    kept = {**before, "python": platform.python_version(), "traces": document(scores)}
    LIMITS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    picture.draw(scores, PICTURE)
    overall, traces = show.overall(scores), _traces(scores)
    page = PAGE.read_text(encoding="utf-8")
    for mark, text in (("overall", overall), ("traces", traces), ("seeds", _seeds(scores))):
        page = _between(page, mark, text)
    PAGE.write_text(page, encoding="utf-8")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(_html(scores), encoding="utf-8")
    print(f"Written: {LIMITS}, {PAGE}, {PICTURE}, {OUT}")


def publish_some(scores: Scores, first_seed: int) -> None:
    """Write what some rules did on other seeds: into the limits, between marks of its own on the page, as a picture."""
    count = max(len(seeds) for seeds in scores.values())
    kept = json.loads(LIMITS.read_text(encoding="utf-8"))
    kept["others"] = {"first_seed": first_seed, "seeds": count, "traces": document(scores)}
    LIMITS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    picture.draw(scores, OTHERS)
    told = f"Seeds {first_seed} to {first_seed + count - 1}, mean and standard deviation over seeds."
    parts = [told, show.overall(scores)]
    if any(rule == OURS for _, rule in scores):
        parts += [f"`{OURS}` less each of the others, seed by seed:", show.besides(scores, OURS)]
    text = "\n\n".join([*parts, show.briefly(scores)])
    PAGE.write_text(_between(PAGE.read_text(encoding="utf-8"), "others", text), encoding="utf-8")
    print(f"Written: {LIMITS}, {PAGE}, {OTHERS}")


def _seeds(scores: Scores) -> str:
    counts = sorted({len(seeds) for seeds in scores.values()})
    return f"Seeds behind each figure: {' to '.join(str(one) for one in dict.fromkeys((counts[0], counts[-1])))}."


def _traces(scores: Scores) -> str:
    found = dict.fromkeys(trace for trace, _ in scores)
    return "\n\n".join(f"### {one}\n\n{catalogue.TRACES[one].about}\n\n{show.by_trace(scores, one)}" for one in found)


def _between(page: str, mark: str, text: str) -> str:
    begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"{PAGE}: the marks {begin} and {end} are missing")
    return pattern.sub(lambda _: f"{begin}\n\n{text}\n\n{end}", page)


def _html(scores: Scores) -> str:
    """Every table with the picture, in one file that needs no other."""
    parts = [("All traces together", show.overall(scores))]
    parts += [(one, show.by_trace(scores, one)) for one in dict.fromkeys(trace for trace, _ in scores)]
    body = "".join(f"<h2>{html.escape(name)}</h2>{_rows(table)}" for name, table in parts)
    style = "body{font-family:sans-serif}td,th{padding:2px 10px;text-align:right}td:first-child{text-align:left}"
    return f"<!doctype html><meta charset=utf-8><title>Scaling rules</title><style>{style}</style>{body}\n"


def _rows(table: str) -> str:
    heads, _, *rows = (line.strip("| ").split(" | ") for line in table.splitlines())
    lines = [("th", heads), *(("td", row) for row in rows)]
    cells = ("".join(f"<{tag}>{html.escape(one)}</{tag}>" for one in row) for tag, row in lines)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
