"""The page of broken specs, from the table that the tests read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from making.tables import cell, code, plain, table

SOURCE = Path(__file__).resolve().parents[3] / "tests/data/bad_specs.yaml"
HEAD = """# Broken specs and what they get

`streamjob validate job.yaml` and `streamjob run job.yaml` refuse a broken StreamJob with a sentence for each mistake:
the field, the value, what is allowed. On a cluster the API server refuses it at admission, or kubectl before that; what
neither can see ends in the condition `Accepted`. `PLANNERS` stands for the names of all planners.

"""


def page() -> str:
    """The table."""
    cases = yaml.safe_load(SOURCE.read_text(encoding="utf-8"))["cases"]
    columns = ("what is wrong", "in place of", "written", "`streamjob validate`", "on a cluster")
    return HEAD + table(columns, [_row(case) for case in cases])


def _row(case: dict[str, Any]) -> tuple[str, ...]:
    return case["what"], _code(case["old"]), _code(case["new"]), _lines(case["sentences"]), _cluster(case)


def _cluster(case: dict[str, Any]) -> str:
    if "kubectl" in case:
        return f"kubectl: {case['kubectl']}"
    if "condition" in case:
        return f"taken, because {case['passes']}; condition `Accepted` is False, reason `{case['condition']}`"
    return f"taken: {case['passes']}" if "passes" in case else _lines(case["admission"])


def _lines(sentences: list[str]) -> str:
    return "<br>".join(plain(one) for one in sentences).replace("{planners}", "PLANNERS").replace("<nil>", "")


def _code(text: str) -> str:
    lines = [" ".join(line.split()) for line in text.strip().splitlines()]
    return "<br>".join(code(cell(line)) for line in lines) or "nothing"
