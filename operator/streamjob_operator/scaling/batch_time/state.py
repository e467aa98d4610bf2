"""What the rule remembers from one decision to the next. Bounded: some KiB of JSON however long the job runs."""

from __future__ import annotations

import dataclasses

from streamjob_planners.batch.learned import Learned
from streamjob_planners.forecast.past import Past


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LagSeen:
    """Rows that waited at a moment."""

    at_s: float
    rows: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Executors that were asked for, at which rate; `came_at_s` once all of them were there. `warm`: whether what their
    first batch took is known."""

    at_s: float
    executors: int
    rate_rps: float
    came_at_s: float | None = None
    warm: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A batch of R rows takes ``fixed_s + row_s R`` seconds."""

    fixed_s: float
    row_s: float

    def at(self, rows: float) -> float:
        """Seconds of a batch of so many rows."""
        return self.fixed_s + self.row_s * rows


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One change of the number of executors, and what came of it; None until it can be told.

    Attributes:
        before, after: executors.
        rate_rps: rows a second that were expected then.
        without, predicted: what batches were predicted to take with `before` and with `after` executors.
        late_ratio: part of the batches that were late before it, 0 to 1.
        settled_at_s: up to when was measured when the executors were first those of it, and nothing on its way.
        rows, measured_s, late_after_ratio: of the settled batches after it, in the mean.
        undone: whether it was taken back for what came of it.
    """

    at_s: float
    before: int
    after: int
    rate_rps: float
    without: Line
    predicted: Line
    late_ratio: float
    settled_at_s: float | None = None
    rows: float | None = None
    measured_s: float | None = None
    late_after_ratio: float | None = None
    undone: bool = False

    @property
    def judged(self) -> bool:
        """Whether what came of it is known."""
        return self.measured_s is not None

    @property
    def error_ratio(self) -> float | None:
        """Predicted batch less the measured one, as a part of the measured one; None until that is known."""
        if self.measured_s is None or self.rows is None or self.measured_s <= 0:
            return None
        return (self.predicted.at(self.rows) - self.measured_s) / self.measured_s

    @property
    def helped_ratio(self) -> float | None:
        """Seconds that it saved over those that it should have saved; None where it should have saved hardly any."""
        if self.measured_s is None or self.rows is None:
            return None
        without_s = self.without.at(self.rows)
        promised_s = without_s - self.predicted.at(self.rows)
        return (without_s - self.measured_s) / promised_s if promised_s > LEAST_PROMISE * without_s else None


LEAST_PROMISE = 0.05
"""Part of a batch that a change must have promised to save for its help to be told from noise."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Wished:
    """What one look asked for, for scaling in, and up to when that was the newest."""

    at_s: float
    executors: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Calm:
    """Measurements without a hole from `since_s` to `newest_s`; of the wishes for them those that no later one was as
    large as, oldest first."""

    since_s: float | None = None
    newest_s: float | None = None
    wishes: tuple[Wished, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class High:
    """Since when more executors than there are were asked for without a break, and the fewest asked for since."""

    since_s: float
    least: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """When executors left last, how many there were before, and when some were asked for again that had left too early;
    None: never."""

    at_s: float | None = None
    executors: int = 0
    regretted_at_s: float | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Barred:
    """No fewer than so many executors, after fewer were not enough: until a moment, or until the rate is below."""

    executors: int
    until_s: float
    below_rps: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All of it.

    Attributes:
        application_id: the driver that all but `past` speaks of.
        past: earlier rates and forecasts.
        lags: readings of the source's lag, oldest first.
        startup_s: time from asking for executors to their being there.
        cold_s: seconds that first batches after executors came took longer than predicted.
        noise: standard deviation of whole batches as a part of their mean, squared.
        proposed: the change that the last look wished for, before it is known whether it was made.
        asked: the newest scale-out.
        leaving: what leaving too early has taught.
        ledger: the newest actions, oldest first; the last one may not be judged yet.
    """

    application_id: str | None = None
    past: Past = dataclasses.field(default_factory=Past)
    lags: tuple[LagSeen, ...] = ()
    startup_s: Learned | None = None
    cold_s: Learned | None = None
    noise: Learned | None = None
    proposed: Action | None = None
    asked: Asked | None = None
    calm: Calm = dataclasses.field(default_factory=Calm)
    high: High | None = None
    leaving: Leaving = dataclasses.field(default_factory=Leaving)
    ledger: tuple[Action, ...] = ()
    barred: Barred | None = None
