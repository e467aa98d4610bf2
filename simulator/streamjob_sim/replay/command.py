"""The command `streamjob replay`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamjob_operator.drawing import drawing
from streamjob_operator.files import trouble
from streamjob_operator.options import duration, finite
from streamjob_operator.scaling import registry
from streamjob_operator.speaking import stopped
from streamjob_operator.spec import SpecError, StreamJob

if TYPE_CHECKING:
    from streamjob_operator.recording.trace import Trace
    from streamjob_sim.replay.run import Replayed
    from streamjob_sim.replay.side_by_side import Asked

FAILED = 1
MOST_STARTUP_S = 3600.0
"""As of a world's executors."""
SUFFIXES = (".png", ".svg", ".pdf", ".html")
FILE = click.Path(path_type=Path)
NEW_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(name="replay")
@click.argument("source", metavar="TRACE", type=FILE)
@click.option("--rule", "rules", multiple=True, type=click.Choice(registry.names()), help="Default: the policy's own.")
@click.option("--policy", "policies", metavar="JOB.YAML", multiple=True, type=FILE, help="Default: 1 to 100 executors.")
@click.option(
    "--objective", "objective_s", metavar="TIME", callback=duration(zero=False), help="Default: the trigger interval."
)
@click.option(
    "--price", type=click.FloatRange(min=0), callback=finite, help="Of one executor for an hour, in any currency."
)
@click.option(
    "--startup", "startup_s", metavar="TIME", callback=duration(most_s=MOST_STARTUP_S), default="60s", show_default=True
)
@click.option("--plot", type=NEW_FILE, callback=drawing(SUFFIXES), help="Draw it: a .png, .svg, .pdf or .html.")
@click.option("--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
def replay_command(source: Path, rules: tuple[str, ...], policies: tuple[Path, ...], **options: Any) -> None:
    """Run the real controller through a recorded TRACE: what it would have cost, and when it would have been late.

    --rule and --policy may be given several times; each rule is tried under each policy. --objective is what a batch
    may take; --startup is how long an executor takes to come. Several runs go side by side, one on each core.
    """
    # Imported here: the other commands need neither solvers nor plots.
    from streamjob_operator.terminal import console
    from streamjob_sim.replay.show import document, render
    from streamjob_sim.replay.side_by_side import Asked

    trace, price, plot = _trace(source), options["price"], options["plot"]
    objective_s = options["objective_s"] or trace.batches.trigger_seconds or _needs_objective()
    asked = [
        Asked(name=name, job=job, objective_s=objective_s, startup_s=options["startup_s"])
        for name, job in _jobs(rules, policies)
    ]
    runs = _runs(source, trace, asked)
    if options["output"] == "json":
        click.echo(json.dumps(document(trace, runs, objective_s, price), indent=1))
    else:
        console().print(render(trace, runs, objective_s, price), highlight=False)
    if plot is not None:
        _draw(plot, trace, runs, objective_s, price)


def _runs(source: Path, trace: Trace, asked: Sequence[Asked]) -> list[Replayed]:
    from streamjob_operator.recording.trace_file import TraceError
    from streamjob_sim.replay.side_by_side import Ended, replay_all

    try:
        return replay_all(trace, asked, _ended)
    except TraceError as error:
        raise stopped(*(f"{source}: {one}" for one in error.sentences)) from error
    except Ended as error:
        raise stopped(str(error), code=FAILED) from error


def _needs_objective() -> float:
    raise click.UsageError("The trace has no trigger interval: say with --objective what a batch may take.")


def _trace(path: Path) -> Trace:
    from streamjob_operator.recording.trace_file import TraceError, read_trace

    try:
        return read_trace(path)
    except TraceError as error:
        raise stopped(*error.sentences) from error


def _jobs(rules: Sequence[str], policies: Sequence[Path]) -> list[tuple[str, StreamJob]]:
    """Each rule under each policy, with a name that tells them apart."""
    from streamjob_operator.spec import read_job
    from streamjob_sim.replay.run import default_policy, with_rule

    try:
        given = [(name, read_job(path)) for name, path in zip(names_of(policies), policies, strict=True)] or [
            ("", default_policy())
        ]
    except SpecError as error:
        raise stopped(*error.sentences) from error
    found = []
    for policy, job in given:
        for rule in rules or (job.spec.scaling.rule,):
            found.append((f"{rule}, {policy}" if len(given) > 1 else rule, with_rule(job, rule)))
    return found


def names_of(policies: Sequence[Path]) -> list[str]:
    """The files' names where these tell them apart, else their paths."""
    stems = [path.stem for path in policies]
    return stems if len(set(stems)) == len(set(policies)) else [str(path) for path in policies]


def _ended(run: Replayed) -> None:
    click.echo(f"{run.name}: done in {run.elapsed_s:.0f} s", err=True)


def _draw(path: Path, trace: Trace, runs: Sequence[Replayed], objective_s: float, price: float | None) -> None:
    from streamjob_sim.replay.draw import save

    try:
        save(path, trace, runs, objective_s, price)
    except OSError as error:
        raise stopped(trouble(path, error)) from error
    click.echo(f"Written: {path}", err=True)
