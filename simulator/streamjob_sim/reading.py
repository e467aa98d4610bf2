"""From a file to a World, or to the sentences that say what is wrong with it."""

from __future__ import annotations

from pathlib import Path

from streamjob_operator.spec.reading import parse_as, read_text
from streamjob_sim.world import World


def read_world(path: Path) -> World:
    """The world in a YAML file; raises SpecError."""
    return parse_world(read_text(path))


def parse_world(text: str) -> World:
    """The world in YAML text; raises SpecError."""
    return parse_as(World, text, "duration, operators, arrival")
