"""The figures as rows of Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.scrapes.figures import Figures, spread

HEADS = (
    "read from",
    "a batch is in the series after, s",
    "of it until it is scraped, s",
    "from a scrape to the reading that shows it, s",
    "batches a row",
    "a shift is seen after, batches",
    "the same, s",
    "the cycle that its second batch wakes measures that after, s",
    "and sees the shift",
    "CPU of a reading, ms",
)


def table(figures: Mapping[str, Figures]) -> Iterator[str]:
    """A line for each way to read. Three figures are mean, p95 and largest."""
    yield f"| {' | '.join(HEADS)} |"
    yield f"|{'---|' * len(HEADS)}"
    for way, one in figures.items():
        cells = (way, one.delay_s, one.scrape_s or "", one.stored_s or "", one.batches, *_of_shifts(one), one.cpu_ms)
        yield f"| {' | '.join(map(str, cells))} |"
    yield ""
    for way, one in figures.items():
        yield f"{way}: {one.delay_s.count} batches; shifts seen: {len(one.shifts)}, not seen: {one.unseen}"


def _of_shifts(one: Figures) -> tuple[object, ...]:
    shifts = one.shifts
    if not shifts:
        return ("", "", "", "")
    return (
        spread(shift.batches for shift in shifts),
        spread(shift.after_s for shift in shifts),
        spread(shift.woken_after_s for shift in shifts),
        f"{sum(shift.woken_sees for shift in shifts)} of {len(shifts) + one.unseen}",
    )
