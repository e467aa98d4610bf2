"""The command `streamjob plan`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamjob_operator.drawing import drawing
from streamjob_operator.files import keep, trouble, write_whole
from streamjob_operator.options import duration
from streamjob_operator.speaking import stopped
from streamjob_operator.spec import SpecError, StreamJob, read_job
from streamjob_planners import registry

if TYPE_CHECKING:
    from streamjob_operator.offline.proposal import Proposal
    from streamjob_operator.offline.snapshot_file import Moment

FAILED = 1
SUFFIXES = (".png", ".svg", ".pdf", ".html")
MOST_DEADLINE_S = 600.0
FILE = click.Path(path_type=Path)
NEW_FILE = click.Path(path_type=Path, dir_okay=False)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for on the command line."""

    source: Path
    planner: str | None
    job_path: Path | None
    marks: tuple[str, ...]
    deadline_s: float | None
    seed: int
    plot: Path | None
    json_path: Path | None


@click.command(name="plan")
@click.option("--from", "source", metavar="FILE", required=True, type=FILE, help="snapshot.json or history.jsonl.")
@click.option("--planner", type=click.Choice(registry.names()), help="Default: the job's own.")
@click.option("--job", "job_path", metavar="JOB.YAML", type=FILE, help="Policy. Default: every field's default.")
@click.option("--mark", "marks", multiple=True, metavar="EXECUTOR", help="Plan as if it were marked for removal.")
@click.option(
    "--deadline",
    "deadline_s",
    metavar="TIME",
    callback=duration(zero=False, most_s=MOST_DEADLINE_S),
    help="Time for the plan, such as 1s.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Chance of the planner.")
@click.option("--plot", type=NEW_FILE, callback=drawing(SUFFIXES), help="Draw it: a .png, .svg, .pdf or .html.")
@click.option("--json", "json_path", type=NEW_FILE, help="Write the plan as JSON.")
def plan_command(**options: Any) -> None:
    """Print what a planner would do about a stored measurement, and why; nothing is changed anywhere."""
    # Imported here: the other commands need neither solvers nor plots.
    from streamjob_operator.offline.show import render
    from streamjob_operator.terminal import console

    request = Request(**options)
    for read in (request.source, request.job_path):
        keep(read, "--json", request.json_path)
    proposal = _propose(request)
    out = console()
    out.print(render(proposal), highlight=False)
    for path in _written(request, proposal):
        out.print(f"Written: {path}", highlight=False, markup=False, soft_wrap=True)
    raise SystemExit(FAILED if proposal.violations else 0)


def _propose(request: Request) -> Proposal:
    from streamjob_operator.offline.proposal import propose
    from streamjob_operator.values import Hold

    moment, job = _moment(request), _job(request)
    try:
        return propose(moment, job, request.seed)
    except Hold as hold:
        raise stopped(f"{hold}", code=FAILED) from hold
    except ValueError as error:
        raise stopped(f"{request.source}: {error}.") from error


def _moment(request: Request) -> Moment:
    from streamjob_operator.offline.snapshot_file import SnapshotError, read_moment
    from streamjob_operator.steps.batching import live

    try:
        moment = read_moment(request.source)
    except SnapshotError as error:
        raise stopped(str(error)) from error
    names = [executor.executor_id for executor in live(moment.snapshot)]
    unknown = [one for one in request.marks if one not in names]
    if unknown:
        raise stopped(f"--mark: '{unknown[0]}' given; the executors of this snapshot are {', '.join(names)}.")
    marked = tuple(dict.fromkeys((*moment.marked, *request.marks)))
    if set(names) <= set(marked):
        raise stopped("--mark: every executor is marked for removal; one must stay.")
    return dataclasses.replace(moment, marked=marked)


def _job(request: Request) -> StreamJob:
    from streamjob_operator.offline.proposal import default_job, with_balancing

    try:
        job = default_job() if request.job_path is None else read_job(request.job_path)
    except SpecError as error:
        raise stopped(*error.sentences) from error
    changes = {"planner": request.planner, "plan_deadline_s": request.deadline_s}
    return with_balancing(job, **{name: value for name, value in changes.items() if value is not None})


def _written(request: Request, proposal: Proposal) -> list[Path]:
    writers = ((request.plot, _draw), (request.json_path, _dump))
    paths = []
    for path, write in writers:
        if path is None:
            continue
        try:
            write(proposal, path)
        except OSError as error:
            raise stopped(trouble(path, error)) from error
        paths.append(path)
    return paths


def _draw(proposal: Proposal, path: Path) -> None:
    from streamjob_operator.offline.draw import save

    save(proposal, path)


def _dump(proposal: Proposal, path: Path) -> None:
    from streamjob_operator.codec import encode

    write_whole(path, json.dumps(encode(proposal.plan), indent=1) + "\n")
