"""`streamjob operator --self-check`: is everything there that the operator needs, and does one lead?

Each check is one line; what fails says what is missing. The chart's `helm test` runs it with the operator's account.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator

from streamjob_operator.kube.api import rights
from streamjob_operator.kube.api.access import configuration, own_namespace
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import LEASES
from streamjob_operator.kube.api.refusals import Refused
from streamjob_operator.kube.api.retry import Retry
from streamjob_operator.kube.api.served import SERVED, absent, listed
from streamjob_operator.kube.process.leader import Terms
from streamjob_operator.ports import Unavailable

LOOK_S = 0.5


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check's outcome, in one sentence."""

    ok: bool
    text: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Namespaces of StreamJobs, none for all; and where the operators' Lease is."""

    namespaces: tuple[str, ...]
    lease_namespace: str
    lease_name: str


def run_self_check(kubeconfig: str | None, where: Where, say: Callable[[str], None]) -> int:
    """Tell every finding; 0 when all are good. Raises Unavailable when no API server is known."""
    api, good = KubeApi(configuration(kubeconfig), retry=Retry(attempts=3)), True
    for finding in checked(api, where):
        say(f"{'ok     ' if finding.ok else 'MISSING'} {finding.text}")
        good = good and finding.ok
    return 0 if good else 1


def checked(api: KubeApi, where: Where) -> Iterator[Finding]:
    """All checks in order; when the API server does not answer that is the last finding."""
    try:
        yield from _served(api)
        yield from _allowed(api, where)
        yield _led(api, where, Terms().lease_s)
    except (Unavailable, Refused) as error:
        yield Finding(ok=False, text=str(error))


def default_where(namespaces: tuple[str, ...], lease_namespace: str | None, lease_name: str) -> Where:
    """As the operator itself understands its options."""
    return Where(namespaces=namespaces, lease_namespace=lease_namespace or own_namespace(), lease_name=lease_name)


def _served(api: KubeApi) -> Iterator[Finding]:
    for kind, subresources in SERVED:
        lacking = absent(api, kind, subresources)
        text = f"The API server serves {', '.join(listed(kind, subresources))} of {kind.api_version}"
        yield Finding(ok=not lacking, text=f"{text}; not there: {', '.join(lacking)}" if lacking else text)


def _allowed(api: KubeApi, where: Where) -> Iterator[Finding]:
    places = [(namespace, rights.WHERE_JOBS_ARE) for namespace in where.namespaces or (None,)]
    for namespace, wanted in (*places, (where.lease_namespace, rights.where_the_lease_is(where.lease_name))):
        lacking = list(rights.missing(api, wanted, namespace))
        place = "every namespace" if namespace is None else f"namespace {namespace}"
        text = f"The account may do what is needed in {place}: {sum(len(one.verbs) for one in wanted)} rights"
        yield Finding(ok=not lacking, text=f"{text}; missing: {', '.join(lacking)}" if lacking else text)


def _led(api: KubeApi, where: Where, limit_s: float) -> Finding:
    """An operator that works renews its Lease: judged by two looks, so that clocks need not agree."""
    first, until_s = _lease(api, where), time.monotonic() + limit_s
    while time.monotonic() < until_s:
        time.sleep(LOOK_S)
        now = _lease(api, where)
        if now.get("holderIdentity") and first and now.get("renewTime") != first.get("renewTime"):
            return Finding(ok=True, text=f"An operator leads: {now['holderIdentity']}")
        first = first or now
    lease = f"the Lease {where.lease_namespace}/{where.lease_name}"
    return Finding(ok=False, text=f"No operator leads: {lease} was not renewed within {limit_s:g} s")


def _lease(api: KubeApi, where: Where) -> dict[str, object]:
    found = api.get(LEASES, where.lease_name, where.lease_namespace)
    return {} if found is None else found.get("spec") or {}
