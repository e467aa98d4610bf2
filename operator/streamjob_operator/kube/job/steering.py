"""What a person asks for by annotation, once for each new value: to end the running moves, to look at once."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

from streamjob_agent.wire import Assignment
from streamjob_operator.kube.api.reading import Reading
from streamjob_operator.kube.api.refusals import Conflict
from streamjob_operator.kube.models.status import Handled
from streamjob_operator.kube.names import Annotation
from streamjob_operator.kube.partition_map.maps import Maps, MapView
from streamjob_operator.ports import Unavailable
from streamjob_operator.values import LIVE_STATES

ATTEMPTS = 5


def wants(reading: Reading, handled: Handled | None, what: Annotation) -> str | None:
    """The value that was not followed yet; None when there is none."""
    value = reading.annotations.get(what.value)
    before = None if handled is None else getattr(handled, what.name.lower())
    return value if value and value != before else None


def stop(maps: Maps, seen: MapView) -> MapView:
    """End the moves and drains of the newest generation; the map as it is then.

    A new generation takes its place that assigns nothing: every key group stays where it is at the next batch boundary,
    marks are taken back, and executors that were asked for and have not come are not waited for. Raises Unavailable
    when it could not be written: the stop is not followed then.
    """
    for _ in range(ATTEMPTS):
        halt = halted(seen)
        if not halt:
            return seen
        with contextlib.suppress(Conflict):  # the agent wrote its status in between: look again
            maps.write(halt, seen)
        again = maps.read()
        if again is None:
            raise Unavailable("The PartitionMap was deleted while its moves were to be stopped.")
        seen = again
    raise Unavailable(f"The PartitionMap changed at each of {ATTEMPTS} attempts to stop its moves.")


def halted(seen: MapView) -> tuple[Assignment, ...]:
    """The plan that ends the newest one; empty when there is none, or it asks for nothing any more."""
    newest = seen.readable_plan() or tuple(_unread(seen))
    if not any(one.owners or one.marked_for_removal for one in newest):
        return ()
    live = 0 if seen.agent is None else sum(one.state in LIVE_STATES for one in seen.agent.executors)
    return tuple(
        Assignment(
            generation=one.generation + 1,
            application_id=one.application_id,
            query_id=one.query_id,
            executors_target=live if one.executors_target is not None and live else one.executors_target,
        )
        for one in newest
    )


def _unread(seen: MapView) -> Iterator[Assignment]:
    """What stands for a plan that this version cannot read: for each query that runs, that it may ask for anything."""
    if seen.generation == 0 or seen.agent is None:
        return
    for query in seen.agent.queries:
        yield Assignment(
            generation=seen.generation,
            application_id=seen.agent.application_id,
            query_id=query.query_id,
            owners=query.owners,
        )


def followed(handled: Handled | None, **values: str | None) -> Handled:
    """The tokens followed so far, and these."""
    told = {name: value for name, value in values.items() if value is not None}
    return (handled or Handled()).model_copy(update=told)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Steering:
    """New tokens of one turn; None where there is none."""

    stop: str | None
    refresh: str | None


def steering_of(reading: Reading, handled: Handled | None) -> Steering:
    """What is asked for and was not followed yet."""
    return Steering(stop=wants(reading, handled, Annotation.STOP), refresh=wants(reading, handled, Annotation.REFRESH))
