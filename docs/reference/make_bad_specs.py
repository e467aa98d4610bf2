"""Makes docs/reference/bad-specs.md from tests/data/bad_specs.yaml; a test tells when it must be run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
SOURCE, TARGET = ROOT / "tests/data/bad_specs.yaml", ROOT / "docs/reference/bad-specs.md"
HEAD = """# Broken specs and what they get

`streamjob validate job.yaml` and `streamjob run job.yaml` refuse a broken StreamJob with a sentence for each mistake:
the field, the value, what is allowed. `PLANNERS` stands for the names of all planners. Made by
`docs/reference/make_bad_specs.py` from the table that the tests read; do not edit.

| what is wrong | in place of | written | sentence |
|---|---|---|---|
"""


def render(table: dict[str, Any]) -> str:
    """The page."""
    return HEAD + "".join(_row(case) for case in table["cases"])


def _row(case: dict[str, Any]) -> str:
    sentences = "<br>".join(_cell(sentence) for sentence in case["sentences"]).replace("{planners}", "PLANNERS")
    return f"| {case['what']} | {_code(case['old'])} | {_code(case['new'])} | {sentences} |\n"


def _code(text: str) -> str:
    lines = [" ".join(line.split()) for line in text.strip().splitlines()]
    return "<br>".join(f"`{_cell(line)}`" for line in lines) or "nothing"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    TARGET.write_text(render(yaml.safe_load(SOURCE.read_text(encoding="utf-8"))), encoding="utf-8")
