"""The command `streamjob repartition`; in a driver's image it is `python -m streamjob_agent repartition`."""

from __future__ import annotations

import functools

import click

from streamjob_agent.repartition.asking import ONE_OF, Asked, carry_out, setting


def _settings(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    try:
        return dict(setting(value) for value in values)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command(name="repartition")
@click.argument("checkpoint")
@click.option(
    "--key-groups", type=click.IntRange(1), help="How many there shall be; without it, how things stand is told."
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and whether it can be; change nothing.")
@click.option("--undo", is_flag=True, help="The old state again, while no batch has begun with the new one.")
@click.option("--clean", is_flag=True, help="Delete the old state, once a batch has been finished with the new one.")
@click.option(
    "--conf", multiple=True, callback=_settings, metavar="NAME=VALUE", help="A setting for Spark; may be repeated."
)
def repartition_command(
    checkpoint: str, key_groups: int | None, dry_run: bool, undo: bool, clean: bool, conf: dict[str, str]
) -> None:
    """Give a stopped query another number of key groups; experimental, Spark 4.2 and newer with RocksDB.

    CHECKPOINT is the query's checkpoint, on any file system that Spark reaches. It is copied, the copy is changed and
    checked row by row, and only then put in the place of the old state, which stays until --clean.
    """
    asked = Asked(checkpoint=checkpoint, key_groups=key_groups, dry_run=dry_run, undo=undo, clean=clean)
    if not asked.makes_sense:
        raise click.UsageError(ONE_OF)
    code = carry_out(asked, conf, tell=click.echo, complain=functools.partial(click.echo, err=True))
    if code:
        raise SystemExit(code)
