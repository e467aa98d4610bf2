"""Events on a real API server: whatever language a sentence is in, and however long a name is."""

from __future__ import annotations

from pathlib import Path

import pytest
from kubectl import Kubectl

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.report.events import Events, Telling

NOW_S = 1_700_000_000.0


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("orders", "The driver ended. It said last: " + "\u4e2d" * 800),
        ("orders", "\u00fc" * 1024),
        ("x" * 199 + "-driver", "It ends."),
    ],
)
def test_an_event_is_posted_whatever_it_tells_and_of_whom(
    api_server: Path, kubectl: Kubectl, namespace: str, name: str, note: str
) -> None:
    regarding = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace, "uid": "u"}}
    Events(KubeApi.from_kubeconfig(api_server)).tell(regarding, Telling(reason="Ended", note=note, action="Do"), NOW_S)
    (posted,) = kubectl.get("events.v1.events.k8s.io")["items"]
    assert note.startswith(posted["note"])
    assert len(posted["note"].encode()) > min(1020, len(note) - 1)
