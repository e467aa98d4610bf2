"""How many executors are enough: for growing, by what is to be expected; for shrinking, by what may well be."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable

from streamjob_operator.scaling.batch_time.aims import aim_of, bearable, by_utilization
from streamjob_operator.scaling.batch_time.arriving import Arriving
from streamjob_operator.scaling.batch_time.measured import Measured
from streamjob_operator.scaling.batch_time.state import Line
from streamjob_operator.scaling.rule import Fleet
from streamjob_operator.spec import StreamJob
from streamjob_planners.forecast.past import Forecast
from streamjob_planners.sizing.course import Outlook
from streamjob_planners.sizing.fewest import Aim, Fewest, Judged, fewest, judge

MAX_JUMP = 3.0
"""At most this times the executors there are, at once: one odd measurement must not fill a cluster."""
SURE = 1.645
"""Standard deviations above the expected rate that fewer executors must be enough for, in every look of the window."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """All that the need depends on.

    Attributes:
        ahead: the rate when executors that are asked for now will be there.
        highest: the highest rate expected until fewer executors could be taken back.
        read_ago_s: seconds since the newest batch ended.
        cold_s: seconds that the first batch on executors that come takes longer than later ones.
    """

    job: StreamJob
    fleet: Fleet
    measured: Measured
    arriving: Arriving
    ahead: Forecast
    highest: Forecast
    ready_s: float
    trigger_s: float
    read_ago_s: float
    cold_s: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """`today`: what is there, judged at the rate ahead. `out`: the fewest for that rate; `calm`: the fewest that are
    enough even for a rate that is higher than foretold."""

    today: Judged
    out: Fewest
    calm: Fewest
    today_enough: bool


def needs(view: View) -> Needs:
    """Both needs; nothing is asked for that twice as many executors would hardly make better."""
    rate = view.ahead.rate_rps
    outlook = _outlook(view, rate)
    aim = aim_of(view.job.spec.scaling, view.trigger_s, view.ready_s)
    rows = _rows(view, rate, aim)
    paces = view.measured.paces(rows)
    now, wanted = paces(view.fleet.ready), view.fleet.wanted
    today = judge(wanted, paces, now, outlook, bearable(view.job.spec.scaling, view.trigger_s, view.ready_s))
    most, least = _most(view), by_slots(view, rate)
    out = fewest(paces, most, now, outlook, aim)
    if not out.reached:
        out = _once_level(view, rows, most, outlook, aim) or out
    judged = functools.partial(judge, paces=paces, today=now, outlook=outlook, aim=aim)
    return Needs(
        today=today,
        out=_raised(out, min(least, most), judged),
        calm=_calm(view, rate, aim, most),
        today_enough=today.enough and wanted >= least,
    )


def _once_level(view: View, rows: float, most: int, outlook: Outlook, aim: Aim) -> Fewest | None:
    """The fewest that would do if key groups were placed as well as can be, which no number of executors does; None
    where these are not enough, either."""
    paces = dataclasses.replace(view.measured, bias=1.0).paces(rows)
    found = fewest(paces, most, paces(view.fleet.ready), outlook, aim)
    return found if found.reached else None


def by_slots(view: View, rate_rps: float) -> int:
    """Executors whose slots are busy to the target, where that is the objective; 1 where it is not."""
    scaling, measured = view.job.spec.scaling, view.measured
    if not by_utilization(scaling):
        return 1
    batches_per_s = 1.0 / view.trigger_s if view.trigger_s else view.arriving.rate_rps / measured.rows
    row_s = float(measured.work.task_row_s.sum()) + sum(one.row_s for one in measured.work.free)
    busy_slots = float(measured.work.task_fixed_s.sum()) * batches_per_s + row_s * rate_rps
    busy = 100.0 * busy_slots / measured.slots / scaling.target_utilization
    return max(1, math.ceil(busy + measured.lost_executors - 1e-9))


def _calm(view: View, rate_rps: float, aim: Aim, most: int) -> Fewest:
    """The fewest that are enough for the highest rate; where none are, those that are for the expected one stay, or
    executors would leave and be asked for again at the same rate."""
    found = _for_sure(view, view.highest.quantile(SURE), aim, most)
    if found.reached:
        return found
    expected = _for_sure(view, rate_rps, aim, most)
    return expected if expected.reached and expected.executors > found.executors else found


def _for_sure(view: View, rate_rps: float, aim: Aim, most: int) -> Fewest:
    """The fewest in a world without a backlog, so that what is there decides nothing."""
    paces = view.measured.paces(_rows(view, rate_rps, aim))
    outlook = dataclasses.replace(_outlook(view, rate_rps), backlog_rows=0.0)
    most = max(view.fleet.wanted, most)
    now = paces(most)
    found = fewest(paces, most, now, outlook, aim)
    judged = functools.partial(judge, paces=paces, today=now, outlook=outlook, aim=aim)
    return _raised(found, min(by_slots(view, rate_rps), most), judged)


def _rows(view: View, rate_rps: float, aim: Aim) -> float:
    """Rows of a batch as long as it may be; those of today's batches where nothing says how long that is."""
    return rate_rps * max(view.trigger_s, aim.batch_s or view.trigger_s) or view.measured.rows


def _raised(found: Fewest, least: int, judged: Callable[[int], Judged]) -> Fewest:
    """At least so many executors, with what batches take on these."""
    if found.executors >= least:
        return found
    return dataclasses.replace(found, judged=judged(least))


def _outlook(view: View, rate_rps: float) -> Outlook:
    return Outlook(
        rate_rps=rate_rps,
        backlog_rows=view.arriving.waiting_rows if view.arriving.backlog_rows > 0 else 0.0,
        read_ago_s=view.read_ago_s,
        cold_s=view.cold_s,
        trigger_s=view.trigger_s,
        ready_s=view.ready_s,
        most_rows=view.arriving.most_rows,
    )


def _most(view: View) -> int:
    """As many as may be asked for at once."""
    bounds = view.job.spec.executors
    return min(bounds.max, max(math.ceil(MAX_JUMP * view.fleet.wanted), bounds.min))


def line_of(view: View, executors: int) -> Line:
    """What batches take on so many executors at the rate ahead."""
    found = view.measured.paces(max(view.ahead.rate_rps * view.trigger_s, view.measured.rows))(executors)
    return Line(fixed_s=found.fixed_s, row_s=found.row_s)
