"""The chart's page names every value, and is made from them."""

from __future__ import annotations

import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "charts"))

from readme import CHART, PAGE, described, leaves, rendered  # noqa: E402 - needs the path above


def test_every_value_is_described() -> None:
    text = (CHART / "values.yaml").read_text(encoding="utf-8")
    told = {path for path, _ in described(text)}
    untold = {
        path for path in leaves(yaml.safe_load(text)) if not any(f"{path}.".startswith(f"{one}.") for one in told)
    }
    assert untold == set()


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == rendered()


def test_a_nested_value_has_its_whole_path() -> None:
    text = "a:\n  # -- About b.\n  b: 1\n# -- About c.\nc: 2\nd: 3\n"
    assert list(described(text)) == [("a.b", "About b."), ("c", "About c.")]


def test_what_goes_on_in_the_next_line_is_told_too() -> None:
    """A sentence of the page ended in its middle."""
    assert list(described("# -- About a,\n# and more.\na: 1\n# Aside.\nb: 2\n")) == [("a", "About a, and more.")]
