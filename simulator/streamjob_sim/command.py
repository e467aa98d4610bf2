"""The command `streamjob simulate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamjob_operator.drawing import drawing
from streamjob_operator.files import keep, trouble
from streamjob_operator.options import duration
from streamjob_operator.speaking import stopped
from streamjob_operator.spec import SpecError
from streamjob_operator.spec.quantities import format_duration
from streamjob_planners import registry
from streamjob_sim.reading import read_world
from streamjob_sim.world import NOBODY, World

if TYPE_CHECKING:
    from streamjob_sim.score import Score

VIOLATED = 1
SUFFIXES = (".png", ".svg", ".pdf")
SNAPSHOT = Path("out/snapshot.json")
NEW_FILE = click.Path(path_type=Path, dir_okay=False)


def _read(path: Path) -> World:
    try:
        return read_world(path)
    except SpecError as error:
        raise stopped(*error.sentences) from error


@click.command(name="simulate")
@click.argument("source", metavar="WORLD.YAML", type=click.Path(path_type=Path))
@click.option(
    "--planner",
    "planners",
    multiple=True,
    type=click.Choice([NOBODY, *registry.names()]),
    help="Planner to try; may be given several times. 'none' is Spark alone. Default: none and the world's own.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Chance of the world.")
@click.option("--plot", type=NEW_FILE, callback=drawing(SUFFIXES), help="Draw the runs: a .png, .svg or .pdf.")
@click.option("--snapshot-at", "at_s", metavar="TIME", callback=duration(), help="Keep what was measured then.")
@click.option("--snapshot-to", "to", type=NEW_FILE, help=f"Where to keep it. Default: {SNAPSHOT}.")
def simulate_command(
    source: Path, planners: tuple[str, ...], seed: int, plot: Path | None, at_s: float | None, to: Path | None
) -> None:
    """Run the real controller on a streaming job on paper, and print what each planner is worth there.

    --snapshot-at keeps what the first run measured at that time, for `streamjob plan`.
    """
    if to is not None and at_s is None:
        raise click.UsageError(f"--snapshot-to: {to} given; --snapshot-at is needed, too, to say when.")
    keep(source, "--snapshot-to", to)
    world = _read(source)
    # Imported here: the other commands need neither solvers nor plots.
    from streamjob_operator.terminal import console
    from streamjob_sim.show import table, violations
    from streamjob_sim.simulate import job_of, simulate

    job = job_of(world)
    chosen = planners or (NOBODY, job.spec.balancing.planner)
    scores = [simulate(world, job, planner, seed) for planner in chosen]
    out = console()
    out.print(table(world.description or "Simulated", scores))
    for line in violations(scores):
        out.print(line, highlight=False)
    if plot is not None:
        _draw(world, scores, plot)
        out.print(f"Drawn in {plot}", highlight=False, soft_wrap=True)
    if at_s is not None:
        out.print(_kept(scores[0], at_s, to or SNAPSHOT), highlight=False, soft_wrap=True)
    raise SystemExit(VIOLATED if any(score.violations for score in scores) else 0)


def _draw(world: World, scores: Sequence[Score], plot: Path) -> None:
    from streamjob_sim.draw import draw

    try:
        draw(world.description, scores, plot)
    except OSError as error:
        raise stopped(trouble(plot, error)) from error


def _kept(score: Score, at_s: float, to: Path) -> str:
    """Writes the first measurement at or after that time, and says so."""
    from streamjob_operator.offline.snapshot_file import moment_of, write_moment

    for turn in score.turns:
        moment = None if turn.record is None or turn.at_s < at_s else moment_of(turn.record)
        if moment is not None:
            try:
                write_moment(to, moment)
            except OSError as error:
                raise stopped(trouble(to, error)) from error
            return f"Measured by '{score.planner}' at {format_duration(turn.at_s)}: {to}"
    raise click.UsageError(f"Nothing was measured at {format_duration(at_s)} or later.")
