"""The cases of the comparison by name: what the job is made of, and what it is given to run on."""

from __future__ import annotations

import dataclasses

import numpy as np
from workload import SKEWS, Slow, Workload, key_group_ms

KEYS_PER_PARTITION = 4
SKIP = 8  # batches before measuring: warm-up of both sides, and the time that balancing takes to settle
MEASURED = 12
MORE = 16  # measured where more has to settle: several stages, more key groups
PHASE = 11  # batches between two shifts of the skew; shifting runs measure all of three phases but SKIP batches
SELDOM = 40  # the same where shifts are as seldom as a balancer can hope for: three of them, and SKIP batches after


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row of the comparison. `total_ms` is the work of all key groups of one stateful stage in one batch.

    `levels` is the skew of each stateful stage, one after another; with `join` the first of them joins two streams.
    The first `light_batches` bring `light_ratio` of the work, as those of a job that has just been started at the
    newest offsets; the others all of it. `period_s` is StreamJob's statistics period: about two batches, so that it
    can tell how much they vary. The first `skip` batches are not measured.
    """

    name: str
    work: str
    levels: tuple[str, ...]
    join: bool = False
    executors: int = 4
    cores: int = 1
    partitions: int = 16
    total_ms: float = 7200.0
    batches: int = SKIP + MEASURED
    batches_per_phase: int = PHASE
    light_batches: int = 2
    light_ratio: float = 0.02
    loops_per_ms: float = 2000.0
    period_s: int = 4
    skip: int = SKIP
    slow: Slow | None = None

    @property
    def slots(self) -> int:
        """Tasks that all executors run at a time."""
        return self.executors * self.cores

    def workload(self) -> Workload:
        """The same profile for every run of a case; waiting is done in whole milliseconds for each key."""
        levels = [key_group_ms(one, self.partitions, self.total_ms, np.random.default_rng(7)) for one in self.levels]
        whole = tuple(np.floor(one / KEYS_PER_PARTITION) * KEYS_PER_PARTITION for one in levels)
        return Workload(levels=whole, batches_per_phase=self.batches_per_phase, slow=self.slow)

    def config(self) -> dict[str, object]:
        """What the job reads, but for its paths."""
        return {
            "partitions": self.partitions,
            "keys_per_partition": KEYS_PER_PARTITION,
            "state_rows": 40 * self.partitions,
            "state_keys": 1000 * self.partitions,
            "batches_per_phase": self.batches_per_phase,
            "levels": [level.tolist() for level in self.workload().levels],
            "join": self.join,
            "light_batches": self.light_batches,
            "light_ratio": self.light_ratio,
            "loops_per_ms": self.loops_per_ms,
            "work": self.work,
            "slow": None if self.slow is None or self.slow.throttled else dataclasses.asdict(self.slow),
            "batches": self.batches,
        }


CPU = {"executors": 2, "total_ms": 3600.0}  # as many slots as cores; both kinds have a bound of 1.8 s
SHAPES = {
    "two": Case(name="two", work="wait", levels=("skewed", "opposed"), total_ms=6000.0, period_s=10),
    "three": Case(name="three", work="wait", levels=("skewed", "opposed", "rolled"), total_ms=5200.0, period_s=10),
    "join": Case(name="join", work="wait", levels=("skewed", "opposed"), join=True, total_ms=6000.0, period_s=10),
    "pairs": Case(name="pairs", work="wait", levels=("skewed",), executors=2, cores=2),
    "straggler": Case(
        name="straggler", work="wait", levels=("straggler",), executors=2, cores=4, partitions=36, total_ms=14400.0
    ),
    "many": Case(
        name="many", work="wait", levels=("skewed",), executors=8, partitions=96, total_ms=14400.0, period_s=10
    ),
}
"""Cases of another shape than one stateful stage on executors of one slot; each has an empty one, none-NAME."""
SLOW = Slow(executor="2", times=3.0, first=16, end=32)  # of 20 equal key groups 5 each are best, and 6, 6, 6 and 2
UNEVEN = {
    "slowed-wait": Case(
        name="slowed-wait", work="wait", levels=("uniform",), partitions=20, batches=48, skip=SLOW.first, slow=SLOW
    ),
    "throttled-nap": Case(
        name="throttled-nap",
        work="nap",
        levels=("uniform",),
        partitions=20,
        batches=48,
        skip=SLOW.first,
        slow=dataclasses.replace(SLOW, throttled=True),
    ),
    "swinging-wait": Case(
        name="swinging-wait", work="wait", levels=("swinging",), batches=44, batches_per_phase=2, skip=20
    ),
}
"""Cases that are another one in mid-run: an executor is slow in some batches, or the hot set goes round."""
NAMES = (
    *(f"{skew}-{work}" for work in ("cpu", "wait") for skew in SKEWS),
    "seldom-wait",
    *UNEVEN,
    *(f"{empty}{shape}-wait" for shape in SHAPES for empty in ("none-", "")),
)


def make_case(name: str, loops_per_ms: float = 2000.0) -> Case:
    """The case of a name such as hot-wait, two-wait or none-two-wait; raises KeyError for another one."""
    if name not in NAMES:
        raise KeyError(f"{name}: no case, there are {', '.join(NAMES)}")
    if name in UNEVEN:
        return UNEVEN[name]
    *empty, what, work = name.split("-")
    if what in SHAPES:
        case = SHAPES[what]
        levels = ("none",) * len(case.levels) if empty else case.levels
        return dataclasses.replace(case, name=name, levels=levels, batches=SKIP + MORE)
    given = CPU if work == "cpu" else {}
    if what == "seldom":
        batches = 3 * SELDOM + SKIP
        return Case(name=name, work=work, levels=("shifting",), batches=batches, batches_per_phase=SELDOM)
    batches = 3 * PHASE if what == "shifting" else SKIP + MEASURED
    return Case(name=name, work=work, levels=(what,), batches=batches, loops_per_ms=loops_per_ms, **given)


def empty_of(name: str) -> str:
    """The case without work whose batches are the fixed part of this one's."""
    *_, what, work = name.split("-")
    return f"none-{what}-{work}" if what in SHAPES else f"none-{work}"
