"""docs/soak.md and its picture, from the samples of a run."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

from e2e.soak.samples import HELD, LEVEL_PER_HOUR, NEAR_ALONE, SETTLES, Sample, Slope, after, growth

GROWS = "**grows**"
STARVED = "Python worker failed to connect back"
"""Spark's own sentence when a Python worker that it starts on the driver has not come up within ten seconds."""

TITLES = {
    "heap_bytes": "heap after a collection, MB",
    "classes_bytes": "JVM beside the heap, MB",
    "jvm_threads": "threads of the JVM",
    "jvm_files": "open files of the JVM",
    "python_bytes": "Python, resident, MB",
    "python_threads": "threads of Python",
    "python_files": "open files of Python",
    "listeners": "listeners on Spark's bus",
    "page_bytes": "the agent's metrics page, kB",
    "files": "temporary files",
}
HEAD = """# Hours of queries that come and go

One driver with the agent, three executors of one machine. A query begins every {every_s:.0f} seconds while fewer than
{at_once} run, of every shape of [the table](reference/compatibility.md): each is fed; some have a session of their own,
or make one in each batch, are stopped and started again, fail on purpose and are started again or left. Other sessions
are made and dropped, queries are refused by Spark. A controller without a plan gives key groups to random executors,
drains executors, asks for new ones and kills others. Every answer is compared with plain Python's.

`make soak` runs it, and beside it the same queries without the agent, where executors are killed in place of drained,
and writes this page; the newest run took {hours:.1f} hours on {day}, Spark {spark}.
"""
LEVELS = """
## What the driver holds

After the first third of the time, in which classes are loaded and rings fill: the median, and growth in an hour (Theil
and Sen's slope, with its 95 percent interval). It counts as level where that slope is at most {percent:.0f}
percent of the median. Spark itself keeps something for each start of a query: a listener for each session that ever
started one and for the copy of it in which a query with state runs; and py4j a thread and a socket in Python for each
run of a query whose sink is Python's. So what is added by a hundred starts is beside what Spark alone adds by as many:
it is *as Spark alone* where the intervals meet, or miss each other by {near:.0f} percent at most. Starts that failed
for want of a worker are not counted, they leave nothing behind. Both sides have the same queries with the same fates.

![what the driver holds, by the starts of queries](pictures/soak.png)
"""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run for the page: its order, what happened, what was held."""

    day: str
    spark: str
    order: Mapping[str, Any]
    program: Mapping[str, Any]
    controller: Mapping[str, int]
    samples: Sequence[Sample]
    alone: Sequence[Sample] | None = None
    killed_alone: int | None = None
    program_alone: Mapping[str, Any] | None = None

    @property
    def hours(self) -> float:
        """From the first sample to the last."""
        return (self.samples[-1].at_s - self.samples[0].at_s) / 3600

    def verdict(self, name: str) -> str:
        """Whether a quantity levels off, grows as without the agent, or neither."""
        found = growth(self.samples, name)
        if found.level:
            return "level"
        if self.alone is None:
            return "grows; Spark alone was not run"
        return "as Spark alone" if found.as_alone(growth(self.alone, name)) else GROWS

    @property
    def wrong(self) -> list[str]:
        """What should not have happened. A busy machine is no fault: those queries are started again, and compared."""
        return [text for text in self.program["wrong"] if STARVED not in text]

    @property
    def good(self) -> bool:
        """Whether every answer was right and nothing grows that the agent holds."""
        return not self.wrong and all(self.verdict(name) in ("level", "as Spark alone") for name in HELD)


def page(run: Run) -> str:
    """The whole page."""
    head = HEAD.format(
        at_once=run.order["at_once"], every_s=run.order["every_s"], hours=run.hours, day=run.day, spark=run.spark
    )
    return (
        "\n".join(
            [head, *_happened(run), LEVELS.format(percent=100 * LEVEL_PER_HOUR, near=100 * NEAR_ALONE), *_table(run)]
        )
        + "\n"
    )


def _happened(run: Run) -> Iterator[str]:
    told, did = run.program, run.controller
    yield "| what happened | times |"
    yield "| --- | --- |"
    yield f"| queries begun | {run.samples[-1].lives} |"
    yield f"| of these to their end, with an exact answer | {told['exact']} |"
    yield f"| of these with a wrong answer or a failure that nobody wanted | {len(run.wrong)} |"
    yield f"| starts of queries | {told['started']} |"
    yield f"| stopped and started again | {told['stopped']} |"
    yield f"| failed on purpose; left after that | {told['failed_on_purpose']}; {told['given_up']} |"
    yield f"| failed as Spark waits ten seconds at most for a Python worker; started again | {_starved(run)} |"
    yield f"| refused by Spark at their start | {told['refused']} |"
    yield f"| sessions made, beside those of batches | {told['sessions']} |"
    yield f"| key groups sent to another executor | {did['moves']} |"
    yield f"| executors drained and removed; drains called off | {did['drained']}; {did['called_off']} |"
    alone = "" if run.killed_alone is None else f"; without the agent {run.killed_alone}"
    yield f"| executors killed | {did['killed']}{alone} |"
    yield f"| assignments refused, since an executor or a query was gone | {did['refused']} |"
    for text in run.wrong:
        yield f"\nWrong: {text.split(' === ')[0]}"


def _starved(run: Run) -> str:
    here = sum(STARVED in text for text in run.program["wrong"])
    if run.program_alone is None:
        return str(here)
    return f"{here}; without the agent {sum(STARVED in text for text in run.program_alone['wrong'])}"


def _table(run: Run) -> Iterator[str]:
    heads = ["what", "after a third", "at the end", "median", "in an hour", "by 100 starts", "Spark alone", "verdict"]
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    third, last = after(run.samples, SETTLES), run.samples[-1]
    for name in HELD:
        unit, found = _unit(name), growth(run.samples, name)
        alone = _slope(growth(run.alone, name).a_start, 100 / unit) if run.alone is not None else "not run"
        cells = [f"{one / unit:.4g}" for one in (getattr(third, name), getattr(last, name), found.median)]
        slopes = [_slope(found.an_hour, 1 / unit), _slope(found.a_start, 100 / unit), alone]
        yield f"| {' | '.join([TITLES[name], *cells, *slopes, run.verdict(name)])} |"


def _slope(slope: Slope, times: float) -> str:
    return f"{slope.mean * times:+.3g} ({slope.low * times:+.3g} to {slope.high * times:+.3g})"


def _unit(name: str) -> float:
    return {"page_bytes": 1e3}.get(name, 1e6 if name.endswith("_bytes") else 1.0)


def draw(run: Run, path: pathlib.Path) -> None:
    """A panel for each quantity, from zero, over starts of queries: with the agent and, where it was run, without."""
    figure, axes = plt.subplots(2, 5, figsize=(15.0, 5.2), sharex=True)
    sides = {"with the agent": (run.samples, "#3182bd"), "Spark alone": (run.alone or (), "#999999")}
    for axis, name in zip(axes.flat, HELD, strict=True):
        for label, (samples, colour) in sides.items():
            values = [getattr(one, name) / _unit(name) for one in samples]
            if values:
                axis.plot([one.runs for one in samples], values, color=colour, linewidth=0.9, label=label)
        axis.axvline(after(run.samples, SETTLES).runs, color="#999999", linewidth=0.8, linestyle="--")
        axis.set_title(TITLES[name], fontsize=9)
        axis.set_ylim(bottom=0)
    for axis in axes[1]:
        axis.set_xlabel("starts of queries")
    axes[0][0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)
    plt.close(figure)
