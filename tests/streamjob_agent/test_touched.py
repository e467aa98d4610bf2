"""The page that says what the agent touches names a test for each line: there is such a test."""

from __future__ import annotations

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]


def test_each_test_that_the_agents_page_names_is_there() -> None:
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", (ROOT / "docs" / "reference" / "agent.md").read_text())
    assert len(named) > 15
    for file, name in named:
        assert f"def {name}(" in (ROOT / "tests" / file).read_text(), f"{file}::{name}"
