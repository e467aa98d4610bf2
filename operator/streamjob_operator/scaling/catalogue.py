"""What each scaling rule of the registry is for, in words for a person who has to choose one."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """One rule: what it does, when to choose it, what it takes, and where it comes from."""

    what: str
    choose_when: str
    cost: str
    source: str


DESCRIPTIONS = {
    "utilization": Description(
        what="Keeps slots busy to a target, batches within their trigger interval, and state within memory.",
        choose_when="Nothing speaks for another one: this is the default.",
        cost="Follows what was measured: a rise is answered once it is there.",
        source="Ours; algorithm 1 of the ALBIC paper, section 4.2.",
    ),
}
"""By name; every rule of the registry has one, which a test keeps."""
