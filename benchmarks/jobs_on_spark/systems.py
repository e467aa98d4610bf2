"""Who runs a job: plain Spark with different settings, or StreamJob with different parts of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

VANILLA = "vanilla"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """What of StreamJob is on."""

    balance: bool
    scale: bool
    planner: str = "search"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A name, what it is in a few words, settings of Spark above those that all have, and StreamJob's part, if any."""

    name: str
    about: str
    settings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    ours: Ours | None = None


SYSTEMS = (
    System(name=VANILLA, about="Spark with its defaults"),
    System(
        name="vanilla-locality",
        about="Spark, no task waits for the executor with its state (`spark.locality.wait=0s`)",
        settings={"spark.locality.wait": "0s"},
    ),
    System(
        name="vanilla-keeps",
        about="Spark, tasks wait a minute for the executor with their state (`spark.locality.wait=60s`)",
        settings={"spark.locality.wait": "60s"},
    ),
    System(
        name="dynamic",
        about="Spark with dynamic allocation, one executor at least",
        settings={
            "spark.dynamicAllocation.enabled": "true",
            "spark.dynamicAllocation.shuffleTracking.enabled": "true",
            "spark.dynamicAllocation.minExecutors": "1",
        },
    ),
    System(name="balance", about="StreamJob balances", ours=Ours(balance=True, scale=False)),
    System(name="scale", about="StreamJob scales, one executor at least", ours=Ours(balance=False, scale=True)),
    System(name="both", about="StreamJob balances and scales", ours=Ours(balance=True, scale=True)),
    System(
        name="collocation",
        about="StreamJob balances and collocates (`planner: albic`)",
        ours=Ours(balance=True, scale=False, planner="albic"),
    ),
)
NAMES = tuple(one.name for one in SYSTEMS)


def named(name: str) -> System:
    """The system of that name; ValueError names those that are there."""
    for one in SYSTEMS:
        if one.name == name:
            return one
    raise ValueError(f"systems: {name!r} given; known are {', '.join(NAMES)}.")
