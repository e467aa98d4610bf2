"""Which cluster the suite takes."""

from __future__ import annotations

import pytest
from e2e.suite import clusters


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, clusters.MADE["local"]),
        ({"CLUSTER": ""}, clusters.MADE["local"]),
        ({"CLUSTER": "kind"}, clusters.MADE["kind"]),
        ({"KUBECONFIG": "/k"}, None),
        ({"CLUSTER": "", "KUBECONFIG": "/k"}, None),
        ({"CLUSTER": "kind", "KUBERNETES": "1.30"}, clusters.MADE["kind"]),
        ({"KUBERNETES": "1.2"}, "KUBERNETES is 1.2: it may be 1.34 or 1.30."),
        ({"CLUSTER": "mine"}, "CLUSTER is mine: it may be local or kind."),
        ({"CLUSTER": "kind", "KUBECONFIG": "/k"}, "CLUSTER is kind, and KUBECONFIG gives a cluster: set one of them."),
    ],
)
def test_the_environment_names_it(environment: dict[str, str], expected: object) -> None:
    assert clusters.wanted(environment) == expected
