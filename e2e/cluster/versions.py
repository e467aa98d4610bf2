"""Which Kubernetes the suite runs on: the newest that it knows or, by $KUBERNETES, the oldest that the chart allows."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping

ASKED = "KUBERNETES"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version that can be built: `modules` are the names of its module file and its sums, beside the sources."""

    number: str
    modules: tuple[str, str]
    go_tags: tuple[str, ...] = ()
    nftables_gate: str | None = None
    """The feature gate of kube-proxy's nftables, where that is no default yet."""

    @property
    def minor(self) -> str:
        """Its minor version, as `1.34`."""
        return self.number.rpartition(".")[0]


NEWEST = Version(number="1.34.3", modules=("go.mod", "go.sum"))
OLDEST = Version(
    number="1.30.14",
    modules=("oldest.mod", "oldest.sum"),
    go_tags=("oldest",),
    nftables_gate="NFTablesProxyMode",
)
KNOWN = {one.minor: one for one in (NEWEST, OLDEST)}


def wanted(environment: Mapping[str, str] = os.environ) -> Version:
    """The one that the environment asks for by its minor version, else the newest; raises ValueError."""
    minor = environment.get(ASKED) or NEWEST.minor
    if minor not in KNOWN:
        raise ValueError(f"{ASKED} is {minor}: it may be {' or '.join(KNOWN)}.")
    return KNOWN[minor]
