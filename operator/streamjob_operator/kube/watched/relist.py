"""Fills the stores before the watches open, and lists everything again now and then: what a watch has missed is seen.

A watch that had to begin anew tells what is there, and not what went in the meantime. The list that looks for that is
one of versions: documents are read where a version is news, which is hardly any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from streamjob_operator.kube.api.kinds import PARTITION_MAPS, PODS, STREAM_JOBS, Kind
from streamjob_operator.kube.api.refusals import Forbidden, Refused
from streamjob_operator.kube.driver.foreign import NAME_LABELS
from streamjob_operator.kube.driver.naming import DRIVER_ROLE, SPARK_ROLE
from streamjob_operator.kube.pods.executors import APPLICATION
from streamjob_operator.kube.watched.api import WatchedApi
from streamjob_operator.kube.watched.store import Store
from streamjob_operator.ports import Unavailable

RELIST_S = 120.0
"""Between two lists of everything: three requests, and one more for each further 500 objects."""
MOST_SINGLES = 50
"""Documents of one kind that are read one by one; of more all are read, in pages."""
RETRY_S = 2.0
SELECTORS = {PODS: SPARK_ROLE}
"""Of all pods, those of Spark's are watched: drivers of cluster mode, our own, and all executors."""


def make_stores() -> dict[Kind, Store]:
    """Empty ones for all that is watched; StreamJobs name drivers by labels of their users' choice."""
    pods = Store(PODS, labels=(APPLICATION, *NAME_LABELS.values()), findable=(SPARK_ROLE, DRIVER_ROLE))
    return {STREAM_JOBS: Store(STREAM_JOBS), PARTITION_MAPS: Store(PARTITION_MAPS), PODS: pods}


def relist(
    api: WatchedApi, stores: Mapping[Kind, Store], namespaces: Sequence[str], tell: Callable[[str], None]
) -> None:
    """List all kinds anew, everywhere or in these namespaces, see _each; raises Refused, Unavailable."""
    _each(stores, namespaces, lambda store, namespace: _relist(api, store, namespace), tell)


def fill(
    api: WatchedApi,
    stores: Mapping[Kind, Store],
    namespaces: Sequence[str],
    over: Callable[[float], bool],
    tell: Callable[[str], None],
) -> bool:
    """List until everything was listed, see _each; False when `over`, which waits for so many seconds, says that nobody
    waits."""
    while True:
        try:
            _each(stores, namespaces, lambda store, namespace: _list(api, store, namespace), tell)
            return True
        except (Unavailable, Refused) as error:
            tell(f"What there is could not be listed: {error}")
        if over(RETRY_S):
            return False


def _each(
    stores: Mapping[Kind, Store],
    namespaces: Sequence[str],
    work: Callable[[Store, str | None], None],
    tell: Callable[[str], None],
) -> None:
    """Do it in each namespace, None for all. One in which the rights are gone, which are its tenants' to delete, is
    told and left out: the watches go on to try. Raises the refusal where that is every one."""
    refused = []
    for namespace in namespaces or (None,):
        try:
            for store in stores.values():
                work(store, namespace)
        except Forbidden as refusal:
            refused.append((namespace, refusal))
    if len(refused) == max(1, len(namespaces)):
        raise refused[0][1]
    for namespace, why in refused:
        tell(f"Namespace {namespace} is not looked after until the operator has its rights there again: {why}")


def _list(api: WatchedApi, store: Store, namespace: str | None) -> None:
    """All documents."""
    present, newest = set(), 0
    for page, version in api.pages(store.kind, namespace, labels=SELECTORS.get(store.kind)):
        newest = int(version)
        for document in page:
            store.put(document)
            present.add((document["metadata"]["namespace"], document["metadata"]["name"]))
    store.relisted(present, newest, namespace)


def _relist(api: WatchedApi, store: Store, namespace: str | None) -> None:
    """All versions, and the documents that are news."""
    present, news, newest = set(), [], 0
    for page, version in api.seen(store.kind, namespace, labels=SELECTORS.get(store.kind)):
        newest = version
        present |= {(one.namespace, one.name) for one in page}
        news += [one for one in page if store.lacks(one.namespace, one.name, one.version)]
    if len(news) > MOST_SINGLES:
        _list(api, store, namespace)
        return
    for one in news:
        api.fresh(store.kind, one.name, one.namespace)
    store.relisted(present, newest, namespace)
