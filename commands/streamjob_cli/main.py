"""The command `streamjob`."""

from __future__ import annotations

from pathlib import Path

import click

from streamjob_cli.repartition import repartition_command
from streamjob_operator.advising.command import advise_command
from streamjob_operator.asking.command import explain, what_if
from streamjob_operator.drawing import lacking
from streamjob_operator.importing.command import import_command
from streamjob_operator.installed import brought_by
from streamjob_operator.kube.crd.command import crds_command
from streamjob_operator.kube.process.command import operator_command
from streamjob_operator.offline.command import plan_command
from streamjob_operator.offline.planners_command import planners_command
from streamjob_operator.options import address, duration
from streamjob_operator.recording.command import record_command
from streamjob_operator.speaking import Speaking, stopped
from streamjob_operator.spec import SpecError, StreamJob, read_job
from streamjob_sim.command import simulate_command
from streamjob_sim.replay.command import replay_command

BAD_SPEC, JOB_FAILED = 2, 1
ON_CLUSTER = ("approve", "history", "pause", "refresh", "resume", "savings", "stop", "top")
"""Commands of `streamjob kube` that are commands of `streamjob` too; `plan` is another one here, on a file."""

LONGEST_HELP = 160
"""Characters of a command's sentence in the list of all; the lines are as wide as the terminal is."""


class Commands(Speaking):
    """The commands below, and those on a cluster: only these need the Kubernetes client, which takes time to import."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """See click.Group."""
        return sorted((*super().list_commands(ctx), *ON_CLUSTER))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """See click.Group: in two lists, since some need a cluster; each with its whole first sentence."""
        for title, names in (("Commands", super().list_commands(ctx)), ("Commands on a cluster", ON_CLUSTER)):
            commands = [(name, self.get_command(ctx, name)) for name in sorted(names)]
            with formatter.section(title):
                formatter.write_dl([(name, one.get_short_help_str(LONGEST_HELP)) for name, one in commands if one])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """See click.Group."""
        if cmd_name not in ON_CLUSTER:
            return super().get_command(ctx, cmd_name)
        try:
            return on_cluster().get_command(ctx, cmd_name)
        except click.UsageError as error:
            return lacking_command(cmd_name, error)


def on_cluster() -> click.Group:
    """The commands of `streamjob kube`. Raises UsageError without the Kubernetes client, which is imported here."""
    with brought_by("operator"):
        from streamjob_operator.kube.kubectl.cli import main as commands
    return commands


def lacking_command(name: str, error: click.UsageError) -> click.Command:
    """In place of one that needs what is not installed: the help of the others is shown all the same."""

    def refuse(**_: object) -> None:
        raise error

    anything: list[click.Parameter] = [click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)]
    settings = {"ignore_unknown_options": True, "help_option_names": []}
    return click.Command(name, settings, refuse, anything, short_help=error.message)


def read_spec(path: Path) -> StreamJob:
    """The StreamJob in a file; every mistake is one line on stderr, and the command ends with 2."""
    try:
        return read_job(path)
    except SpecError as error:
        raise stopped(*error.sentences) from error


@click.group(cls=Commands)
@click.version_option(package_name="streamjob")
def main() -> None:
    """Autoscale and rebalance Spark Structured Streaming jobs while they run."""


@main.command()
@click.argument("path", metavar="JOB.YAML", type=click.Path(path_type=Path))
def validate(path: Path) -> None:
    """Say whether a StreamJob file is right, or what is wrong with it."""
    click.echo(f"{read_spec(path).metadata.name} is a valid StreamJob.")


@main.command()
@click.argument("path", metavar="JOB.YAML", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder of results. Default: out/NAME.")
@click.option("--duration", metavar="TIME", callback=duration(), help="Stop after this time, for example 5m.")
@click.option("--attach", metavar="ADDRESS", callback=address, help="Address of a running agent; starts nothing.")
@click.option(
    "--memory-bytes",
    envvar="STREAMJOB_MEMORY_BYTES",
    type=click.IntRange(min=1),
    help="Memory that this process may use, without the job's own, which bounds what is read and kept of measurements. "
    "More than 2 GiB (the default) changes nothing.",
)
@click.option(
    "--history-bytes",
    type=click.IntRange(min=1 << 24),
    default=1 << 28,
    show_default=True,
    help="Size at which history.jsonl loses its oldest cycles, until half of it is left. A cycle takes some 7 KB, and "
    "0.6 KB a key group.",
)
def run(
    path: Path,
    out: Path | None,
    duration: float | None,
    attach: str | None,
    memory_bytes: int | None,
    history_bytes: int,
) -> None:
    """Run a job, or attach to one, and keep it balanced and right-sized.

    What is edited in the file of balancing, scaling, executors and annotations meanwhile counts at once.
    """
    job = read_spec(path)
    # Imported here: `validate` needs neither solvers nor plots.
    from streamjob_operator.standalone.launcher import DriverError
    from streamjob_operator.standalone.session import run_session

    if attach is None and job.spec.application is None:
        raise click.UsageError("The job has an applicationRef: give the address of its agent with --attach.")
    if what := lacking():
        raise click.UsageError(f"`streamjob run` draws a report at the end; {what}.")
    try:
        code = run_session(
            job,
            path,
            out or Path("out") / job.metadata.name,
            duration,
            attach,
            memory_bytes=memory_bytes,
            history_bytes=history_bytes,
        )
    except DriverError as error:
        click.echo(str(error), err=True)
        raise SystemExit(BAD_SPEC) from error
    raise SystemExit(JOB_FAILED if code else 0)


@main.command("kube", context_settings={"ignore_unknown_options": True}, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def kube(arguments: tuple[str, ...]) -> None:
    """Steer StreamJobs on a cluster, as `kubectl streamjob` does; see `streamjob kube --help`."""
    on_cluster()(list(arguments), prog_name="streamjob kube")


main.add_command(advise_command)
main.add_command(crds_command)
main.add_command(explain)
main.add_command(import_command)
main.add_command(operator_command)
main.add_command(plan_command)
main.add_command(planners_command)
main.add_command(record_command)
main.add_command(repartition_command)
main.add_command(replay_command)
main.add_command(simulate_command)
main.add_command(what_if)
