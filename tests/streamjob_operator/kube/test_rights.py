"""What the operator asks for is what the chart grants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from streamjob_operator.kube import rights

RBAC = Path(__file__).parents[3] / "charts" / "streamjob" / "templates" / "rbac.yaml"


@pytest.fixture(scope="module")
def granted() -> list[dict[str, Any]]:
    """The chart's rules: their text has no template in it."""
    text = RBAC.read_text(encoding="utf-8").partition("-}}\n")[2].partition("{{- end")[0]
    rules: list[dict[str, Any]] = yaml.safe_load(text)
    return rules


@pytest.mark.parametrize("right", rights.WHERE_JOBS_ARE, ids=lambda one: one.resource)
def test_the_chart_grants_it(granted: list[dict[str, Any]], right: rights.Right) -> None:
    fitting = [one for one in granted if right.kind.group in one["apiGroups"] and right.resource in one["resources"]]
    assert set(right.verbs) <= {verb for one in fitting for verb in one["verbs"]}
