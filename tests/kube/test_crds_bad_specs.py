"""The table of broken specs on the real API server: refused with its sentence, or it is said why it cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from admission import sentences
from kubectl import Kubectl, program

from streamjob_operator.kube.api.reading import read_job
from streamjob_operator.kube.names import Condition
from streamjob_operator.kube.report.facts import Facts
from streamjob_operator.kube.report.findings import findings
from streamjob_planners import registry

ROOT = Path(__file__).resolve().parents[2]
TABLE: dict[str, Any] = yaml.safe_load((ROOT / "tests/data/bad_specs.yaml").read_text(encoding="utf-8"))
DRY_RUN = ("apply", "--dry-run=server", "-f", "-")


@pytest.fixture(scope="module")
def anywhere(api_server: Path) -> Kubectl:
    """kubectl in the default namespace: these tests leave nothing behind."""
    return Kubectl(program(), api_server, "default")


def broken(case: dict[str, Any]) -> str:
    return str(TABLE["valid"].replace(case["old"], case["new"], 1))


def cases(kind: str) -> list[Any]:
    return [pytest.param(case, id=case["what"]) for case in TABLE["cases"] if kind in case]


def test_every_case_says_what_happens_on_a_cluster() -> None:
    assert all(sum(kind in case for kind in ("admission", "kubectl", "passes")) == 1 for case in TABLE["cases"])


def test_the_spec_that_the_table_breaks_is_taken(anywhere: Kubectl) -> None:
    assert "created" in anywhere(*DRY_RUN, text=TABLE["valid"])


@pytest.mark.parametrize("case", cases("admission"))
def test_the_api_server_refuses_it_with_a_sentence(anywhere: Kubectl, case: dict[str, Any]) -> None:
    refused = anywhere.run(*DRY_RUN, text=broken(case))
    planners = ", ".join(f'"{name}"' for name in registry.names())
    assert refused.returncode != 0
    assert sentences(refused.stderr) == [one.replace("{planners}", planners) for one in case["admission"]]


@pytest.mark.parametrize("case", cases("kubectl"))
def test_kubectl_itself_refuses_it(anywhere: Kubectl, case: dict[str, Any]) -> None:
    refused = anywhere.run(*DRY_RUN, text=broken(case))
    assert refused.returncode != 0
    assert case["kubectl"] in refused.stderr


@pytest.mark.parametrize("case", cases("passes"))
def test_what_nobody_before_the_operator_can_see_is_taken(anywhere: Kubectl, case: dict[str, Any]) -> None:
    assert "created" in anywhere(*DRY_RUN, text=broken(case))


@pytest.mark.parametrize("case", cases("condition"))
def test_what_only_the_operator_can_see_ends_in_a_condition(kubectl: Kubectl, case: dict[str, Any]) -> None:
    kubectl("apply", "-f", "-", text=broken(case))
    read = read_job(kubectl.get("sj", "airline-delays"))
    found = {
        one.type: one for one in findings(Facts(uid="u", job=read.job, mistakes=read.mistakes, generation=1, now_s=0.0))
    }
    accepted = found[Condition.ACCEPTED]
    assert (accepted.holds, accepted.reason, accepted.message) == (False, case["condition"], *case["sentences"])
    assert found[Condition.STALLED].holds
