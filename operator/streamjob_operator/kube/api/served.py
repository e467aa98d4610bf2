"""Whether the API server serves our kinds. kopf looks once, at its start, and watches a kind that comes later never."""

from __future__ import annotations

from collections.abc import Callable

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import PARTITION_MAPS, STREAM_JOBS, Kind
from streamjob_operator.kube.api.refusals import Refused
from streamjob_operator.ports import Unavailable

SERVED: tuple[tuple[Kind, tuple[str, ...]], ...] = ((STREAM_JOBS, ("status", "scale")), (PARTITION_MAPS, ("status",)))
"""Kinds, and subresources of them, without which nothing can be done."""
LOOK_S = 2.0


def listed(kind: Kind, subresources: tuple[str, ...]) -> list[str]:
    """PLURAL and PLURAL/SUBRESOURCE, as the API server lists them."""
    return [kind.plural, *(f"{kind.plural}/{one}" for one in subresources)]


def absent(api: KubeApi, kind: Kind, subresources: tuple[str, ...]) -> list[str]:
    """Those of them that are not served; raises Unavailable, Refused."""
    known = api.resources(kind)
    return [one for one in listed(kind, subresources) if one not in known]


def wait_until_served(api: KubeApi, over: Callable[[float], bool], tell: Callable[[str], None]) -> bool:
    """Wait for all of SERVED; False when `over`, which waits for so many seconds, says that nobody waits.

    `tell` hears each new sentence about what is waited for.
    """
    told = None
    while (sentence := _lacking(api)) is not None:
        if sentence != told:
            tell(sentence)
            told = sentence
        if over(LOOK_S):
            return False
    return True


def _lacking(api: KubeApi) -> str | None:
    try:
        for kind, subresources in SERVED:
            lacking = absent(api, kind, subresources)
            if lacking:
                return f"The API server does not serve {', '.join(lacking)} of {kind.api_version}: the CRDs are needed."
    except (Unavailable, Refused) as error:
        return f"It is not known yet whether the API server serves our kinds: {error}"
    return None
