"""What is done to a job while it runs, and when: by batches, or by chance for some minutes, from a seed."""

from __future__ import annotations

import collections
import dataclasses
import enum
import math
import random
from collections.abc import Iterable, Iterator, Mapping

BATCHES_A_MINUTE = 20
"""Of input, where a run is as long as its harm: with moves no two batches begin within three seconds."""
SHARE_OF_TIME = 0.9
"""Acts by chance come within this share of the minutes, so that the last ones are done before the input is."""
STALL_S = (2.0, 15.0)
"""Shortest and longest stall by chance: less than what clients of Kafka and Spark's own heartbeats wait for."""


class Victim(enum.Enum):
    """Whom an act befalls, as outcomes name it."""

    EXECUTOR = "executor killed"
    """A process of an executor gets SIGKILL in mid-batch."""
    DRIVER = "driver killed"
    """The driver with the JVM that it began, in mid-batch; it is started again at once."""
    DRAINED = "executor drained"
    """The agent empties one and lets it go, as scaling in does; another one comes in its place."""
    BROKER = "stall of the broker"
    """Kafka's process is stopped for some seconds: nobody answers, no connection breaks."""
    STORE = "stall of the checkpoint store"
    """So is the process that serves the checkpoints' file system: every operation on a file of theirs hangs."""


STALLED = frozenset({Victim.BROKER, Victim.STORE})
A_MINUTE: Mapping[Victim, float] = {
    Victim.EXECUTOR: 0.7,
    Victim.DRIVER: 0.35,
    Victim.DRAINED: 0.35,
    Victim.BROKER: 0.7,
    Victim.STORE: 0.7,
}
"""Acts by chance; of each kind that can be there is one at least."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Due once every query has committed `after` batches, `at_s` after the first of them; a stall takes `for_s`."""

    victim: Victim
    after: int = 1
    at_s: float = 0.0
    for_s: float = 0.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Harm:
    """What each job endures: kills at even distances of its batches, or all that can be for so many minutes.

    Attributes:
        executors: how many of them are killed, one after another.
        driver: whether the driver is killed after them.
        minutes: all kinds of acts by chance for so long; 0 for none of these.
        broker: whether there is a broker to be stalled in these minutes.
    """

    executors: int = 0
    driver: bool = False
    minutes: float = 0.0
    broker: bool = False

    def __post_init__(self) -> None:
        if self.executors < 0:
            raise ValueError(f"kill-executors: {self.executors} given; it is 0 or more.")
        if not (0 <= self.minutes < math.inf):
            raise ValueError(f"minutes: {self.minutes:g} given; it is 0 or more.")
        if self.minutes and (self.executors or self.driver):
            raise ValueError("minutes: given with kills by batches; it has kills of its own.")

    def acts(self, batches: int, chance: random.Random) -> list[Act]:
        """In the order in which they are due; `batches` are those with input."""
        return list(self._by_chance(chance)) if self.minutes else list(self._by_batches(batches))

    def _by_batches(self, batches: int) -> Iterator[Act]:
        victims = [Victim.EXECUTOR] * self.executors + [Victim.DRIVER] * self.driver
        for at, victim in enumerate(victims, 1):
            # Before its first batch a driver has nothing to go on from.
            yield Act(victim=victim, after=max(1, at * batches // (len(victims) + 1)))

    def _by_chance(self, chance: random.Random) -> list[Act]:
        last_s = 60.0 * self.minutes * SHARE_OF_TIME
        victims = [
            victim
            for victim, rate in A_MINUTE.items()
            for _ in range(max(1, round(rate * self.minutes)))
            if victim is not Victim.BROKER or self.broker
        ]
        acts = (Act(victim=one, at_s=chance.uniform(0.0, last_s), for_s=_length_s(one, chance)) for one in victims)
        return sorted(acts, key=lambda act: act.at_s)


def _length_s(victim: Victim, chance: random.Random) -> float:
    return chance.uniform(*STALL_S) if victim in STALLED else 0.0


def counted(acts: Iterable[Act]) -> dict[str, int]:
    """How many of each kind, by its name."""
    return dict(collections.Counter(act.victim.value for act in acts))


def named(count: int, name: str) -> str:
    """Some acts of a kind for a person: "2 executors killed", "1 stall of the broker"."""
    first, _, rest = name.partition(" ")
    return f"{count} {first}{'' if count == 1 else 's'} {rest}"
