"""What docs/user names is there: commands, files, links, conditions, reasons, alerts, values of the chart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from streamjob_operator.kube.kubectl.cli import main as plugin
from streamjob_operator.kube.names import Condition, KubeReason
from streamjob_operator.values import Reason

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "user").glob("*.md"))
CHART = ROOT / "charts" / "streamjob"
TEXT = {page.name: page.read_text(encoding="utf-8") for page in PAGES}


def rows(page: str, heading: str) -> Iterator[str]:
    """First cells of the table under a heading."""
    part = TEXT[page].split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    yield from (line.split("|")[1].strip() for line in part.splitlines() if line.startswith("| ") and "---" not in line)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_samples_are_there(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", TEXT[page.name]):
        assert (page.parent / link).exists(), link
    for path in re.findall(r"\b(?:samples|charts)/[\w./-]*\w", TEXT[page.name]):
        assert (ROOT / path).exists(), path


def test_commands_of_the_plugin_exist() -> None:
    told = {name for text in TEXT.values() for name in re.findall(r"kubectl streamjob ([a-z]+)", text)} - {"comes"}
    assert told
    assert told <= set(plugin.commands)


def test_values_that_are_set_are_the_charts() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    told = {path for text in TEXT.values() for path in re.findall(r"--set ([\w.]+)=", text)}
    assert told
    for path in told:
        found = values
        for name in path.split("."):
            found = found[name]


def test_every_alert_has_a_row_and_every_row_an_alert() -> None:
    groups = yaml.safe_load((CHART / "rules" / "streamjob.yaml").read_text(encoding="utf-8"))["groups"]
    alerts = {rule["alert"] for group in groups for rule in group["rules"]}
    assert set(rows("operating.md", "Alerts")) - {"alert"} == alerts


def test_conditions_and_reasons_of_the_rows_exist() -> None:
    conditions, reasons = {one.value for one in Condition}, {one.value for one in (*KubeReason, *Reason)}
    cells = [cell for cell in rows("operating.md", "Conditions") if cell != "condition"]
    assert {cell.split()[0] for cell in cells} == conditions - {"Reconciling"}
    told = {
        word for cell in cells if ", " in cell for word in re.findall(r"[A-Z][a-z]+[A-Z]\w+", cell.split(", ", 1)[1])
    }
    assert told <= reasons
