"""The command `streamjob repartition`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from streamjob_agent.repartition.journal import Stage
from streamjob_agent.repartition.values import Facts, Refused

if TYPE_CHECKING:
    from streamjob_agent.repartition.operation import Change

REFUSED = 2
QUIET = "WARN"
FOUND = {
    Stage.NONE: "No change of its key groups is under way.",
    Stage.DRAFT: "A change was interrupted while it copied; the checkpoint is as it was. The next one begins anew.",
    Stage.HALFWAY: (
        "A change was interrupted while it put the state in its place, and the query cannot start. Give --key-groups "
        "again, which ends what was begun, or --undo."
    ),
    Stage.WAITING: (
        "The new key groups are in their place and no batch has begun with them. Start the query, or go back with "
        "--undo."
    ),
    Stage.BEGUN: "A batch has begun with the new key groups and is not finished. Let the query finish it.",
    Stage.DONE: "Batches have been finished with the new key groups. --clean deletes the old state.",
}


def _setting(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    for value in values:
        if "=" not in value:
            raise click.BadParameter(f"'{value}' given; NAME=VALUE is needed")
    return {name: rest for name, _, rest in (value.partition("=") for value in values)}


@click.command(name="repartition")
@click.argument("checkpoint")
@click.option(
    "--key-groups", type=click.IntRange(1), help="How many there shall be; without it, how things stand is told."
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and whether it can be; change nothing.")
@click.option("--undo", is_flag=True, help="The old state again, while no batch has begun with the new one.")
@click.option("--clean", is_flag=True, help="Delete the old state, once a batch has been finished with the new one.")
@click.option(
    "--conf", multiple=True, callback=_setting, metavar="NAME=VALUE", help="A setting for Spark; may be repeated."
)
def repartition_command(
    checkpoint: str, key_groups: int | None, dry_run: bool, undo: bool, clean: bool, conf: dict[str, str]
) -> None:
    """Give a stopped query another number of key groups; experimental, Spark 4.2 and newer with RocksDB.

    CHECKPOINT is the query's checkpoint, on any file system that Spark reaches. It is copied, the copy is changed and
    checked row by row, and only then put in the place of the old state, which stays until --clean.
    """
    if undo + clean + (key_groups is not None) > 1 or (dry_run and key_groups is None):
        raise click.UsageError("Give one of --key-groups, --undo and --clean at most; --dry-run goes with the first.")
    # Imported here: the other commands need no Spark.
    from pyspark.sql import SparkSession

    session = _session(SparkSession.builder, conf)
    try:
        _do(_change(session, checkpoint), key_groups, dry_run=dry_run, undo=undo, clean=clean)
    except (Refused, OSError) as error:
        click.echo(str(error), err=True)
        raise SystemExit(REFUSED) from error
    finally:
        session.stop()


def _session(builder: Any, conf: dict[str, str]) -> Any:
    for name, value in {"spark.ui.enabled": "false", **conf}.items():
        builder = builder.config(name, value)
    session = builder.appName("streamjob repartition").getOrCreate()
    session.sparkContext.setLogLevel(QUIET)
    return session


def _change(session: Any, checkpoint: str) -> Change:
    from streamjob_agent.repartition.engine import SparkEngine
    from streamjob_agent.repartition.hadoop import HadoopFiles
    from streamjob_agent.repartition.operation import Change

    files = HadoopFiles(session)
    return Change(
        files=files, engine=SparkEngine(session), checkpoint=files.qualified(checkpoint).rstrip("/"), tell=click.echo
    )


def _do(change: Change, key_groups: int | None, *, dry_run: bool, undo: bool, clean: bool) -> None:
    if undo:
        change.undo()
    elif clean:
        _clean(change)
    elif key_groups is None:
        _tell(change)
    elif dry_run:
        _rehearse(change, key_groups)
    else:
        change.run(key_groups)


def _clean(change: Change) -> None:
    if not change.clean():
        raise Refused(f"Nothing is deleted. {FOUND[change.stage()]}")
    click.echo("There is no old state.")


def _tell(change: Change) -> None:
    click.echo(_described(change.facts()))
    click.echo(FOUND[change.stage()])


def _rehearse(change: Change, key_groups: int) -> None:
    facts = change.facts()
    click.echo(_described(facts))
    stage = change.stage()
    if stage not in (Stage.NONE, Stage.DONE):
        click.echo(FOUND[stage])
    sentences = change.refusals(key_groups)
    if sentences:
        raise Refused("\n".join(sentences))
    click.echo(
        f"It would be copied ({facts.bytes:,} bytes), the copy spread over {key_groups} key groups and checked, and "
        "put in the place of the old state. Nothing was changed."
    )


def _described(facts: Facts) -> str:
    if facts.committed is None:
        return "No batch was ever finished here."
    many = "an unknown number of" if facts.key_groups is None else str(facts.key_groups)
    return (
        f"The newest finished batch is {facts.committed}; {facts.operators} stateful operators with {many} key groups "
        f"each, {facts.bytes:,} bytes."
    )
