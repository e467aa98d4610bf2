"""Every trace by name: its curve, its length, and what else happens."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from streamjob_sim.traces import curves
from streamjob_sim.world import COLD_JVM, World

BASE_RPS = 20_000.0
"""Height 1 of every curve: about nine executors' work."""
MINUTE_S = 60.0
ROWS_PER_SLOT_SECOND, SLOTS = 1600.0, 2
SKEW = {"keys": 5000, "exponent": 0.4}

Part = dict[str, Any]
"""A part of a world as users write it."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What a person is told of it, its curve, its length, and how the world differs from the others'.

    `skew` and `faults` are given the length in seconds.
    """

    about: str
    curve: Callable[[np.random.Generator], curves.Curve]
    duration_s: float = 90 * MINUTE_S
    skew: Callable[[float], Part] = lambda _: SKEW
    faults: Callable[[float], list[Part]] = lambda _: []


def _sliding(duration_s: float) -> Part:
    return {**SKEW, "exponent": 0.8, "shiftEvery": _text(duration_s / 6)}


def _hot_key(duration_s: float) -> Part:
    return {**SKEW, "hotPartitions": 1, "hotShare": 0.06, "hotFrom": _text(0.4 * duration_s)}


def _neighbour(duration_s: float) -> list[Part]:
    return [
        {
            "kind": "ExecutorSlow",
            "at": _text(at * duration_s),
            "for": _text(0.2 * duration_s),
            "executor": str(executor),
            "share": 0.5,
        }
        for executor, at in ((0, 0.2), (1, 0.45), (2, 0.7))
    ]


TRACES: Mapping[str, Trace] = MappingProxyType(
    {
        "diurnal": Trace(about="A day pressed into two hours.", curve=curves.diurnal, duration_s=120 * MINUTE_S),
        "weekly": Trace(about="A week of short days, 20 minutes each.", curve=curves.weekly, duration_s=140 * MINUTE_S),
        "flash-crowd": Trace(about="More than double within two minutes, dying away slowly.", curve=curves.flash_crowd),
        "ramp": Trace(about="An even rise to four times as much.", curve=curves.ramp),
        "sawtooth": Trace(about="Four slow rises with sudden falls.", curve=curves.sawtooth),
        "step": Trace(about="Doubled at once, and later a third of that.", curve=curves.step),
        "moving-skew": Trace(about="A level rate whose hot partitions move on.", curve=curves.steady, skew=_sliding),
        "hot-key": Trace(about="A level rate; one key becomes hot.", curve=curves.steady, skew=_hot_key),
        "noisy-neighbour": Trace(
            about="A level rate; executors lose half of their speed in turn.", curve=curves.steady, faults=_neighbour
        ),
        "outage": Trace(about="The source is silent for nine minutes, then brings it all.", curve=curves.outage),
    }
)


def names() -> tuple[str, ...]:
    """Every trace, in the order of the table."""
    return tuple(TRACES)


def world_of(name: str, seed: int, policy: Part, part: float = 1.0) -> World:
    """The trace's world under a policy as users write it; `part` shortens it.

    Raises ValueError with the names that exist, or with what is wrong with the policy.
    """
    if name not in TRACES:
        raise ValueError(f"trace: there is no trace '{name}'; choose one of {', '.join(names())}")
    return World.model_validate_json(json.dumps(_document(name, seed, policy, part)))


def _document(name: str, seed: int, policy: Part, part: float) -> Part:
    trace = TRACES[name]
    duration_s = part * trace.duration_s
    curve = trace.curve(np.random.default_rng([seed, *name.encode()]))
    rate = BASE_RPS * curve[0][1]
    operator = {
        "name": "count",
        "partitions": 48,
        "recordsPerSlotSecond": ROWS_PER_SLOT_SECOND,
        "skew": trace.skew(duration_s),
        "state": {"initial": "4M"},
    }
    points = [{"at": _text(at * duration_s), "rate": BASE_RPS * height} for at, height in curve]
    return {
        "description": trace.about,
        "duration": _text(duration_s),
        "operators": [operator],
        "arrival": {"rate": rate, "points": points, "noise": 0.1},
        "executors": {"initial": _start(rate), "cores": SLOTS, "startup": "60s", **COLD_JVM},
        "batch": {"trigger": "10s", "fixed": "500ms", "noise": 0.05},
        "faults": trace.faults(duration_s),
        "policy": policy,
    }


def _text(seconds: float) -> str:
    """As a person writes a duration."""
    return f"{round(1000 * seconds)}ms"


def _start(rate: float) -> int:
    """Executors at the beginning: slots busy to 60 percent, the same for every rule."""
    return max(1, math.ceil(rate / (0.6 * SLOTS * ROWS_PER_SLOT_SECOND)))
