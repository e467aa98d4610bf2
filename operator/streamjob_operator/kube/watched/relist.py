"""Fills the stores before the watches open, and lists everything again now and then: what a watch has missed is seen.

A watch that had to begin anew tells what is there, and not what went in the meantime.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import PARTITION_MAPS, PODS, STREAM_JOBS, Kind
from streamjob_operator.kube.api.refusals import Refused
from streamjob_operator.kube.driver.foreign import NAME_LABELS
from streamjob_operator.kube.driver.naming import DRIVER_ROLE, SPARK_ROLE
from streamjob_operator.kube.pods.executors import APPLICATION
from streamjob_operator.kube.watched.store import Store
from streamjob_operator.ports import Unavailable

RELIST_S = 120.0
"""Between two lists of everything: three requests, and one more for each further 500 objects."""
RETRY_S = 2.0
SELECTORS = {PODS: SPARK_ROLE}
"""Of all pods, those of Spark's are watched: drivers of cluster mode, our own, and all executors."""


def make_stores() -> dict[Kind, Store]:
    """Empty ones for all that is watched; StreamJobs name drivers by labels of their users' choice."""
    pods = Store(PODS, labels=(APPLICATION, *NAME_LABELS.values()), findable=(SPARK_ROLE, DRIVER_ROLE))
    return {STREAM_JOBS: Store(STREAM_JOBS), PARTITION_MAPS: Store(PARTITION_MAPS), PODS: pods}


def relist(api: KubeApi, stores: Mapping[Kind, Store], namespaces: Sequence[str]) -> None:
    """List all kinds, everywhere or in these namespaces; raises Refused, Unavailable."""
    for kind, store in stores.items():
        for namespace in namespaces or (None,):
            _relist(api, store, namespace, SELECTORS.get(kind))


def fill(
    api: KubeApi,
    stores: Mapping[Kind, Store],
    namespaces: Sequence[str],
    over: Callable[[float], bool],
    tell: Callable[[str], None],
) -> bool:
    """List until everything was listed; False when `over`, which waits for so many seconds, says that nobody waits."""
    while True:
        try:
            relist(api, stores, namespaces)
            return True
        except (Unavailable, Refused) as error:
            tell(f"What there is could not be listed: {error}")
        if over(RETRY_S):
            return False


def _relist(api: KubeApi, store: Store, namespace: str | None, labels: str | None) -> None:
    present, newest = set(), 0
    for page, version in api.pages(store.kind, namespace, labels=labels):
        newest = int(version)
        for document in page:
            store.put(document)
            present.add((document["metadata"]["namespace"], document["metadata"]["name"]))
    store.relisted(present, newest, namespace)
