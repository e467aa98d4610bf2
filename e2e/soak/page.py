"""docs/soak.md and its picture, from the samples of a run."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

from e2e.soak.samples import HELD, LEVEL_PER_HOUR, SETTLES, Growth, Sample, growth

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

One driver with the agent, three executors of one machine. {at_once} queries at a time, of every shape of
[the table](reference/compatibility.md): each is fed; some have a session of their own, or make one in each batch, are
stopped and started again, fail on purpose and are started again or left. Other sessions are made and dropped, queries
are refused by Spark. A controller without a plan gives key groups to random executors, drains executors, asks for new
ones and kills others. Every answer is compared with plain Python's.

`make soak` runs it for {hours:.1f} hours and writes this page; the newest run was on {day}, Spark {spark}.
"""
LEVELS = """
## What the driver holds

After the first third of the time, in which classes are loaded and rings fill: the median, and growth in an hour (Theil
and Sen's slope, with its 95 percent interval). It counts as level where that slope is at most {percent:.0f}
percent of the median.

![what the driver holds, over the hours](pictures/soak.png)
"""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run for the page: its order, what happened, what was held."""

    day: str
    spark: str
    at_once: int
    program: Mapping[str, Any]
    controller: Mapping[str, int]
    samples: Sequence[Sample]

    @property
    def hours(self) -> float:
        """From the first sample to the last."""
        return (self.samples[-1].at_s - self.samples[0].at_s) / 3600

    def growths(self) -> dict[str, Growth]:
        """Of each quantity."""
        return {name: growth(self.samples, name) for name in HELD}

    @property
    def good(self) -> bool:
        """Whether every answer was right and everything levels off."""
        return not self.program["wrong"] and all(one.level for one in self.growths().values())


def page(run: Run) -> str:
    """The whole page."""
    head = HEAD.format(at_once=run.at_once, hours=run.hours, day=run.day, spark=run.spark)
    return "\n".join([head, *_happened(run), LEVELS.format(percent=100 * LEVEL_PER_HOUR), *_table(run)]) + "\n"


def _happened(run: Run) -> Iterator[str]:
    told, did = run.program, run.controller
    yield "| what happened | times |"
    yield "| --- | --- |"
    yield f"| queries begun | {run.samples[-1].lives} |"
    yield f"| of these to their end, with an exact answer | {told['exact']} |"
    yield f"| of these with a wrong answer or a failure that nobody wanted | {len(told['wrong'])} |"
    yield f"| starts of queries | {told['started']} |"
    yield f"| stopped and started again | {told['stopped']} |"
    yield f"| failed on purpose; left after that | {told['failed_on_purpose']}; {told['given_up']} |"
    yield f"| refused by Spark at their start | {told['refused']} |"
    yield f"| sessions made, beside those of batches | {told['sessions']} |"
    yield f"| key groups sent to another executor | {did['moves']} |"
    yield f"| executors drained and removed; drains called off | {did['drained']}; {did['called_off']} |"
    yield f"| executors killed | {did['killed']} |"
    yield f"| assignments refused, since an executor or a query was gone | {did['refused']} |"
    for text in told["wrong"]:
        yield f"\nWrong: {text}"


def _table(run: Run) -> Iterator[str]:
    yield "| what | at the end of the first third | at the end | median | growth in an hour | level |"
    yield "| --- | --- | --- | --- | --- | --- |"
    third = next(
        one
        for one in run.samples
        if one.at_s >= run.samples[0].at_s + SETTLES * (run.samples[-1].at_s - run.samples[0].at_s)
    )
    for name, found in run.growths().items():
        unit = _unit(name)
        ends = f"{getattr(third, name) / unit:.4g} | {getattr(run.samples[-1], name) / unit:.4g}"
        grows = f"{found.an_hour / unit:+.3g} ({found.low / unit:+.3g} to {found.high / unit:+.3g})"
        level = "yes" if found.level else "**no**"
        yield f"| {TITLES[name]} | {ends} | {found.median / unit:.4g} | {grows} | {level} |"


def _unit(name: str) -> float:
    return {"page_bytes": 1e3}.get(name, 1e6 if name.endswith("_bytes") else 1.0)


def draw(samples: Sequence[Sample], path: pathlib.Path) -> None:
    """A panel for each quantity, from zero. Makes the folder."""
    figure, axes = plt.subplots(2, 5, figsize=(15.0, 5.2), sharex=True)
    hours = [one.at_s / 3600 for one in samples]
    settled = samples[0].at_s + SETTLES * (samples[-1].at_s - samples[0].at_s)
    for axis, name in zip(axes.flat, HELD, strict=True):
        axis.plot(hours, [getattr(one, name) / _unit(name) for one in samples], color="#3182bd", linewidth=0.9)
        axis.axvline(settled / 3600, color="#999999", linewidth=0.8, linestyle="--")
        axis.set_title(TITLES[name], fontsize=9)
        axis.set_ylim(bottom=0)
    for axis in axes[1]:
        axis.set_xlabel("hours")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)
    plt.close(figure)
