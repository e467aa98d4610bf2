"""The arithmetic of a decision in a sentence that a person can check by hand."""

from __future__ import annotations

from streamjob_operator.scaling.batch_time.needs import View
from streamjob_operator.spec.quantities import format_duration
from streamjob_planners.advice import more_groups
from streamjob_planners.advice.more_groups import MoreGroups
from streamjob_planners.batch.predict import Binding, Part
from streamjob_planners.batch.rate import Limit
from streamjob_planners.called import called
from streamjob_planners.forecast.past import WORDS, Forecast, Method
from streamjob_planners.model import LoadModel
from streamjob_planners.sizing.fewest import Aim, Fewest, Judged
from streamjob_planners.sizing.pace import Pace

SECONDS = 10.0
"""A period is told to so many seconds: no slot of half a minute knows it better."""


def enough(view: View, found: Fewest, aim: Aim, model: LoadModel) -> str:
    """Why so many executors, of those that are enough; what keeps every number from it where none is."""
    rate = view.ahead.rate_rps
    if not found.reached and not found.judged.in_time:
        return f"{_floor(view, found, aim, model)}, {_rate(view.ahead)}"
    clears = _clears(view, found.judged)
    capped = view.arriving.most_rows
    cap = "" if capped is None else f"; the source hands out {capped:,.0f} rows a batch, whatever waits"
    return f"{_takes(found.judged, aim)} at {rate:,.0f} rows/s{_foretold(view.ahead)}{clears}{cap}"


def fits(view: View, judged: Judged, aim: Aim) -> str:
    """Why the executors that are wanted today are enough."""
    rate = f" at {view.ahead.rate_rps:,.0f} rows/s{_foretold(view.ahead)}"
    return f"{_takes(judged, aim)}{rate}{_clears(view, judged)}"


def _takes(judged: Judged, aim: Aim) -> str:
    many = _many(judged.pace.executors)
    if judged.batch is None:
        return f"batches of {many} would grow without end"
    if aim.batch_s is None:
        return f"rows take {100 * _busy_ratio(judged.batch.mean_s, judged.pace):.0f} percent of the time of {many}"
    late = 100 * judged.late_ratio
    often = "hardly ever late" if late < 0.1 else f"late {late:.2g} times in 100"
    return f"batches of {many} take {_seconds(judged.batch.mean_s)} of {_seconds(aim.batch_s)}, {often},"


def _busy_ratio(batch_s: float, pace: Pace) -> float:
    """Part of the settled batch that its rows take, where batches follow each other at once."""
    return 1.0 - pace.fixed_s / batch_s if batch_s else 0.0


def _clears(view: View, judged: Judged) -> str:
    backlog = view.arriving.backlog_rows
    if backlog <= 0:
        gathers = (
            "" if judged.gone_s is None else f", with what gathers until they are there gone in {judged.gone_s:.0f} s"
        )
        return gathers if judged.clears else ", with what gathers until they are there never gone"
    gone = "that stays" if judged.gone_s is None else f"gone in {judged.gone_s:.0f} s"
    other = view.arriving.other
    whose = "" if other is None else f" (as {other.own_rows:,.0f} rows of query {other.query} take as long)"
    return f", with a backlog of {backlog:,.0f} rows{whose} {gone}"


def _rate(forecast: Forecast) -> str:
    return f"at {forecast.rate_rps:,.0f} rows/s{_foretold(forecast)}"


def _foretold(forecast: Forecast) -> str:
    """What was made of the rate's past, where that is more than its newest value."""
    if forecast.method is Method.NAIVE:
        return ""
    if forecast.method is Method.RISE:
        return f" (expected {WORDS[forecast.method]})"
    every = "" if forecast.every_s is None else f" every {format_duration(SECONDS * round(forecast.every_s / SECONDS))}"
    own, naive = 100 * (forecast.error_ratio or 0.0), 100 * (forecast.naive_ratio or 0.0)
    return (
        f" (expected {WORDS[forecast.method]}{every}; off by {own:.0f} percent so far, the rate itself by {naive:.0f})"
    )


def _floor(view: View, found: Fewest, aim: Aim, model: LoadModel) -> str:
    pace, batch = found.judged.pace, found.judged.batch
    on_these = "grow without end" if batch is None else f"take {_seconds(batch.mean_s)}"
    told = f"no number of executors up to the largest brings batches within their time{_wanted(view, aim)}"
    longest = _part(pace.longest, model, aim, _most_groups(view))
    return f"{told}: {longest}; batches of {_many(pace.executors)} {on_these}"


def _wanted(view: View, aim: Aim) -> str:
    """What a batch may take; where rows wait for their trigger for all of the latency that is left, that."""
    if aim.batch_s is None:
        return ""
    latency_s = view.job.spec.scaling.max_latency_s
    if aim.batch_s > 0 or latency_s is None:
        return f" ({_seconds(aim.batch_s)} wanted)"
    trigger = format_duration(view.trigger_s)
    return (
        f" (scaling.maxLatency is {format_duration(latency_s)}, more than the trigger interval of {trigger} is needed)"
    )


def more(view: View, found: Fewest, aim: Aim, model: LoadModel) -> MoreGroups | None:
    """The key groups that might do where every number of executors is too few for a heavy one; None otherwise."""
    longest = found.judged.pace.longest
    if found.reached or found.judged.in_time or longest.part is not Part.KEY_GROUP:
        return None
    return _more(longest, model, aim, _most_groups(view))


def _most_groups(view: View) -> int:
    return view.job.spec.balancing.key_groups.max


def _more(binding: Binding, model: LoadModel, aim: Aim, most: int) -> MoreGroups | None:
    """What more key groups could do about it; nothing where nobody says what a batch may take, or it may take no
    time."""
    if not aim.batch_s:
        return None
    times = binding.seconds / aim.batch_s
    return more_groups.proposed(Limit.KEY_GROUP, model.group_ids, binding.group, times, most)


def _part(binding: Binding, model: LoadModel, aim: Aim, most_groups: int) -> str:
    if binding.part is Part.FIXED:
        return f"planning, commits and launching tasks take {_seconds(binding.seconds)}"
    if binding.part is Part.FREE_STAGE:
        return f"stages without key groups take {_seconds(binding.seconds)}"
    if binding.part is Part.KEY_GROUP and binding.group is not None:
        many = _more(binding, model, aim, most_groups)
        told = "" if many is None else many.told()
        return f"{called(model, binding.group)} alone takes {_seconds(binding.seconds)}{told}"
    return f"the slowest executor of a stage takes {_seconds(binding.seconds)}"


def _many(executors: int) -> str:
    return "one executor" if executors == 1 else f"{executors} executors"


def _seconds(value: float) -> str:
    return f"{value:.0f} s" if value >= 100 else f"{value:.1f} s" if value >= 1 else f"{value:.2g} s"
