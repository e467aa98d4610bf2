"""The StreamJobs of samples/streamjobs as the suite applies them: with images, sizes and volumes of this cluster."""

from __future__ import annotations

from typing import Any

import yaml

from e2e.suite.world import ROOT

FOLDER = ROOT / "samples" / "streamjobs"


def sample(name: str, changes: dict[str, Any]) -> dict[str, Any]:
    """The sample of that name with `changes` merged in."""
    document: dict[str, Any] = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return merged(document, changes)


def merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Objects key by key; lists and plain values of `above` replace those of `below`, None removes them."""
    found = {name: value for name, value in below.items() if name not in above}
    for name, value in above.items():
        before = below.get(name)
        if isinstance(value, dict):
            found[name] = merged(before if isinstance(before, dict) else {}, value)
        elif value is not None:
            found[name] = value
    return found
