"""`streamjob savings`: executor-hours of jobs beside those of fleets that always have the most. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from rich.table import Table

from streamjob_operator.kube.models.savings import Month
from streamjob_operator.kube.models.status import Status

ALL = "all"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """One job, or all: executor-hours that were used, and those of a fleet of the month's most for as many hours."""

    namespace: str
    name: str
    used_h: float
    always_h: float

    @property
    def saved_pct(self) -> float:
        """Part of the second that was not used, percent; 0 where nothing was counted."""
        return 100.0 * (1.0 - self.used_h / self.always_h) if self.always_h > 0 else 0.0


def saved(jobs: Iterable[tuple[str, str, Status]], month: str | None) -> list[Saved]:
    """Each job with anything counted, of that month or of all months that its status keeps."""
    found = []
    for namespace, name, status in jobs:
        months = [one for one in _months(status) if month is None or one.month == month]
        if months:
            used_h = sum(one.executor_hours for one in months)
            always_h = sum(one.most * one.hours for one in months)
            found.append(Saved(namespace=namespace, name=name, used_h=used_h, always_h=always_h))
    return found


def total(jobs: Sequence[Saved]) -> Saved:
    """All of them as one."""
    used_h, always_h = sum(one.used_h for one in jobs), sum(one.always_h for one in jobs)
    return Saved(namespace="", name=ALL, used_h=used_h, always_h=always_h)


def savings_view(jobs: Sequence[Saved], price: float | None) -> Table:
    """A line for each job, and one for all."""
    table = Table("namespace", "name", box=None, pad_edge=False)
    for column in ("exec-hours", "of a static peak", "saved", *(() if price is None else ("cost", "saved money"))):
        table.add_column(column, justify="right")
    for one in (*jobs, total(jobs)):
        table.add_row(one.namespace, one.name, *_cells(one, price))
    return table


def _cells(one: Saved, price: float | None) -> Iterator[str]:
    yield f"{one.used_h:,.1f}"
    yield f"{one.always_h:,.1f}"
    yield f"{one.saved_pct:.1f} %"
    if price is not None:
        yield f"{price * one.used_h:,.2f}"
        yield f"{price * (one.always_h - one.used_h):,.2f}"


def _months(status: Status) -> tuple[Month, ...]:
    return () if status.savings is None else status.savings.months
