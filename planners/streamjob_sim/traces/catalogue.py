"""Every trace by name: its curve, its length, and what else happens."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from streamjob_sim.faults import Fault, FaultKind
from streamjob_sim.shapes import Arrival, Point, Skew
from streamjob_sim.traces import curves
from streamjob_sim.world import Batch, Fleet, Operator, Policy, State, World

BASE_RPS = 20_000.0
"""Height 1 of every curve: about nine executors' work."""
MINUTE_S = 60.0
SKEW = Skew(keys=5000, exponent=0.4)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What a person is told of it, its curve, its length, and how the world differs from the others'.

    `skew` and `faults` are given the length in seconds.
    """

    about: str
    curve: Callable[[np.random.Generator], curves.Curve]
    duration_s: float = 90 * MINUTE_S
    skew: Callable[[float], Skew] = lambda _: SKEW
    faults: Callable[[float], tuple[Fault, ...]] = lambda _: ()


def _sliding(duration_s: float) -> Skew:
    return SKEW.model_copy(update={"exponent": 0.8, "shift_every_s": duration_s / 6})


def _hot_key(duration_s: float) -> Skew:
    return SKEW.model_copy(update={"hot_partitions": 1, "hot_share": 0.06, "hot_from_s": 0.4 * duration_s})


def _neighbour(duration_s: float) -> tuple[Fault, ...]:
    slow = FaultKind.EXECUTOR_SLOW
    return tuple(
        Fault(kind=slow, at_s=_text(at * duration_s), for_s=_text(0.2 * duration_s), executor=str(executor), share=0.5)
        for executor, at in ((0, 0.2), (1, 0.45), (2, 0.7))
    )


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


def world_of(name: str, seed: int, policy: Policy, part: float = 1.0) -> World:
    """The trace's world under a policy; `part` shortens it. Raises ValueError with the names that exist."""
    if name not in TRACES:
        raise ValueError(f"trace: there is no trace '{name}'; choose one of {', '.join(names())}")
    trace = TRACES[name]
    duration_s = part * trace.duration_s
    curve = trace.curve(np.random.default_rng([seed, *name.encode()]))
    points = tuple(Point(at_s=_text(at * duration_s), rate=BASE_RPS * height) for at, height in curve)
    operator = Operator(
        name="count",
        partitions=48,
        records_per_slot_second=1600.0,
        skew=trace.skew(duration_s),
        state=State(initial_bytes="4M"),
    )
    return World(
        description=trace.about,
        duration_s=_text(duration_s),
        operators=(operator,),
        arrival=Arrival(rate=points[0].rate, points=points, noise=0.1),
        executors=Fleet(initial=_start(points[0].rate), cores=2, startup_s="60s"),
        batch=Batch(trigger_s="10s", fixed_s="500ms", noise=0.05),
        faults=trace.faults(duration_s),
        policy=policy,
    )


def _text(seconds: float) -> str:
    """As a person writes a duration."""
    return f"{round(1000 * seconds)}ms"


def _start(rate: float) -> int:
    """Executors at the beginning: slots busy to 60 percent, the same for every rule."""
    return max(1, int(np.ceil(rate / (0.6 * 2 * 1600.0))))
