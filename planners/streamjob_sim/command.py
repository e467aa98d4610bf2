"""The command `streamjob simulate`."""

from __future__ import annotations

from pathlib import Path

import click

from streamjob_operator.spec import SpecError
from streamjob_planners import registry
from streamjob_sim.reading import read_world
from streamjob_sim.world import NOBODY, World

BAD_SPEC, VIOLATED = 2, 1


def _read(_: click.Context, __: click.Parameter, value: str) -> World:
    try:
        return read_world(Path(value))
    except SpecError as error:
        for sentence in error.sentences:
            click.echo(sentence, err=True)
        raise SystemExit(BAD_SPEC) from error


@click.command(name="simulate")
@click.argument("world", metavar="WORLD.YAML", callback=_read)
@click.option(
    "--planner",
    "planners",
    multiple=True,
    type=click.Choice([NOBODY, *registry.names()]),
    help="Planner to try; may be given several times. 'none' is Spark alone. Default: none and the world's own.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Chance of the world.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Draw the runs: a .png, .svg or .pdf.")
def simulate_command(world: World, planners: tuple[str, ...], seed: int, plot: Path | None) -> None:
    """Run the real controller on a streaming job on paper, and print what each planner is worth there."""
    # Imported here: the other commands need neither solvers nor plots.
    from rich.console import Console

    from streamjob_sim.show import draw, table, violations
    from streamjob_sim.simulate import job_of, simulate

    if plot is not None and plot.suffix not in (".png", ".svg", ".pdf"):
        raise click.BadParameter(
            f"'{plot}' given; a name that ends with .png, .svg or .pdf is needed", param_hint="--plot"
        )
    job = job_of(world)
    chosen = planners or (NOBODY, job.spec.balancing.planner)
    scores = [simulate(world, job, planner, seed) for planner in chosen]
    console = Console()
    console.print(table(world.description or "Simulated", scores))
    for line in violations(scores):
        console.print(line, highlight=False)
    if plot is not None:
        plot.parent.mkdir(parents=True, exist_ok=True)
        draw(world.description, scores, plot)
        console.print(f"Drawn in {plot}", highlight=False)
    raise SystemExit(VIOLATED if any(score.violations for score in scores) else 0)
