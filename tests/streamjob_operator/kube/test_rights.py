"""What the operator asks for is what the chart grants, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from streamjob_operator.kube.api import rights

TEMPLATE = Path(__file__).parents[3] / "charts" / "streamjob" / "templates" / "rbac.yaml"
LEASE_BEGINS = "# The Lease by which"


Asked = tuple[str, str, str, str | None]
"""Group, resource, verb, and the one object's name where it is for one alone."""
LEASE = "{{ .Values.lease.name | quote }}"


def granted(text: str) -> set[Asked]:
    """Each right in a list of rules."""
    rules: list[dict[str, Any]] = yaml.safe_load(text)
    return {
        (group, resource, verb, name)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        for name in rule.get("resourceNames", [None])
    }


def asked(wanted: Iterable[rights.Right]) -> set[Asked]:
    return {(one.kind.group, one.resource, verb, one.name) for one in wanted for verb in one.verbs}


def test_where_jobs_are_the_chart_grants_exactly_what_is_asked_for() -> None:
    rules = TEMPLATE.read_text(encoding="utf-8").partition("-}}\n")[2].partition("{{- end")[0]  # no template in it
    assert granted(rules) == asked(rights.WHERE_JOBS_ARE)


def test_where_the_lease_is_the_chart_grants_exactly_what_is_asked_for() -> None:
    role = TEMPLATE.read_text(encoding="utf-8").partition(LEASE_BEGINS)[2]
    rules = role.partition("rules:\n")[2].partition("---")[0].replace(LEASE, f'"{LEASE}"')
    assert granted(rules) == asked(rights.where_the_lease_is(LEASE))


@pytest.mark.parametrize("wanted", [rights.WHERE_JOBS_ARE, rights.where_the_lease_is("one")])
def test_no_right_is_listed_twice(wanted: tuple[rights.Right, ...]) -> None:
    assert len(asked(wanted)) == sum(len(one.verbs) for one in wanted)
