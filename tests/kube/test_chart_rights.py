"""What the operator's account may do by the chart's roles, as the API server itself judges it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml
from e2e.cluster import helm
from kubectl import Kubectl, eventually

CHART = Path(__file__).resolve().parents[2] / "charts" / "streamjob"
ROLES = ("Role", "RoleBinding", "ServiceAccount")


@pytest.fixture
def operator_account(kubectl: Kubectl, namespace: str) -> str:
    """`--as` of the operator's account in a namespace that it looks after."""
    found = helm.find()
    if found is None:
        pytest.skip(helm.HOW_TO_GET)
    command = [str(found), "template", "sj", str(CHART), f"--namespace={namespace}", "--kube-version=1.34"]
    made = subprocess.run(
        [*command, f"--set=watch.namespaces={{{namespace}}}"], capture_output=True, text=True, check=True
    )
    kubectl.apply(*(one for one in yaml.safe_load_all(made.stdout) if one and one["kind"] in ROLES))
    account = f"--as=system:serviceaccount:{namespace}:sj"
    eventually(lambda: may(kubectl, account, "create", "leases"))
    return account


def may(kubectl: Kubectl, account: str, *what: str) -> bool:
    return kubectl.run("auth", "can-i", *what, account).stdout.strip() == "yes"


def test_of_all_leases_only_its_own_is_the_operators(kubectl: Kubectl, operator_account: str) -> None:
    """The control plane's lie in kube-system, where the operator's is when it looks after all namespaces."""
    for verb in ("get", "patch"):
        assert may(kubectl, operator_account, verb, "lease/streamjob-operator")
        assert not may(kubectl, operator_account, verb, "lease/kube-controller-manager")
        assert not may(kubectl, operator_account, verb, "leases")
    assert not may(kubectl, operator_account, "delete", "lease/streamjob-operator")


@pytest.mark.parametrize(
    "what",
    [
        ("list", "secrets"),
        ("watch", "secrets"),
        ("update", "secrets"),
        ("create", "streamjobs"),
        ("delete", "streamjobs"),
        ("bind", "roles"),
        ("escalate", "roles"),
        ("delete", "rolebindings"),
        ("create", "pods", "--subresource=exec"),
        ("create", "serviceaccounts", "--subresource=token"),
        ("impersonate", "serviceaccounts"),
    ],
)
def test_what_would_make_it_more_than_it_is_it_may_not(
    kubectl: Kubectl, operator_account: str, what: tuple[str, ...]
) -> None:
    assert not may(kubectl, operator_account, *what)
