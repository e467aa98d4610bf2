"""The real cycle on a simulated job, turn by turn, with a controller that may be down or crash at any point."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from streamjob_operator.cycle import turn
from streamjob_operator.events import Event
from streamjob_operator.ports import Planning, Ports, Rules
from streamjob_operator.spec import StreamJob
from streamjob_operator.values import CycleRecord, Memory
from streamjob_planners.model import Clock
from streamjob_sim.actuate import SimulatedActuator
from streamjob_sim.faults import FaultKind, lasting
from streamjob_sim.job import SimulatedJob
from streamjob_sim.measure import SimulatedMetrics
from streamjob_sim.unmeasured import sight_of

_DOWN = frozenset({FaultKind.CONTROLLER_DOWN})
_CRASHES = frozenset({FaultKind.CONTROLLER_CRASHES})


class Crash(BaseException):
    """The controller's process is gone: nothing of the cycle may catch this."""


class KeptMemory:
    """MemoryStore that outlives the controller."""

    def __init__(self) -> None:
        self._kept = Memory()

    def load(self) -> Memory:
        """The last saved memory."""
        return self._kept

    def save(self, memory: Memory) -> None:
        """Save."""
        self._kept = memory


@dataclasses.dataclass(frozen=True, slots=True)
class Deadly:
    """A port that kills the controller just before or just after a call of `method`."""

    port: Any
    method: str
    after: bool

    def __getattr__(self, name: str) -> Any:
        real = getattr(self.port, name)
        return self._kill(real) if name == self.method else real

    def _kill(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if self.after:
                real(*arguments)
            raise Crash

        return call


class Controller:
    """Turns the cycle. `records` is what it reported; `crashes` counts its deaths."""

    def __init__(
        self,
        simulated: SimulatedJob,
        job: StreamJob,
        rng: np.random.Generator,
        clock: Clock,
        *,
        rules: Rules,
        planning: Planning | None = None,
    ) -> None:
        self._rules = rules
        self._simulated = simulated
        self._job = job
        self._rng = rng
        self._clock = clock
        self._planning = planning
        self._memory = KeptMemory()
        self.actuator = SimulatedActuator(simulated, job)
        self._metrics = SimulatedMetrics(simulated, rng)
        self.records: list[CycleRecord] = []
        self.crashes = 0

    def turn(self, woken: tuple[Event, ...] = ()) -> CycleRecord | None:
        """One cycle at the world's time, woken by these; None when the controller was down or died in it."""
        at_s, faults = self._simulated.now_s, self._simulated.world.faults
        if lasting(faults, _DOWN, at_s):
            return None
        try:
            record = turn(self._ports(), self._job, self._simulated.world.start + at_s, self._rng, self._clock, woken)
        except Crash:
            self.crashes += 1
            return None
        self.records.append(record)
        return record

    @property
    def memory(self) -> Memory:
        """What it remembers."""
        return self._memory.load()

    def _ports(self) -> Ports:
        ports = Ports(
            metrics=self._metrics,
            actuator=self.actuator,
            memory=self._memory,
            planning=self._planning,
            rules=self._rules,
            look=lambda: sight_of(self._simulated),
        )
        fault = lasting(self._simulated.world.faults, _CRASHES, self._simulated.now_s)
        if fault is None or self._rng.random() >= (fault.share or 0.0):
            return ports
        name, method = (("metrics", "observe"), ("actuator", "actuate"), ("memory", "save"))[self._rng.integers(3)]
        deadly = Deadly(getattr(ports, name), method, bool(self._rng.random() < 0.5))
        killing: dict[str, Any] = {name: deadly}
        return dataclasses.replace(ports, **killing)
