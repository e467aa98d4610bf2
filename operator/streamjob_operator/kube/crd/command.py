"""`streamjob crds`: write the custom resource definitions, or say that they are stale."""

from __future__ import annotations

from pathlib import Path

import click
import yaml

from streamjob_operator.files import trouble, write_whole
from streamjob_operator.kube.crd import definitions

HEAD = "# Made by `streamjob crds` from the models in operator/streamjob_operator; do not edit.\n"
STALE = 1


def rendered() -> dict[str, str]:
    """Text of each file, by its name."""
    made = (definitions.stream_job(), definitions.partition_map())
    return {f"{one['spec']['names']['plural']}.yaml": HEAD + _yaml(one) for one in made}


@click.command("crds")
@click.option("--folder", type=click.Path(path_type=Path), default=Path("crds"), help="Where they lie. Default: crds.")
@click.option("--check", is_flag=True, help="Write nothing; end with 1 when a file is missing or stale.")
def crds_command(folder: Path, check: bool) -> None:
    """Write the custom resource definitions of StreamJob and PartitionMap."""
    made = rendered()
    stale = [name for name, text in made.items() if not _holds(folder / name, text)]
    if check:
        for name in stale:
            click.echo(f"{folder / name} is stale: run `streamjob crds --folder {folder}`.", err=True)
        raise SystemExit(STALE if stale else 0)
    for name in stale:
        try:
            write_whole(folder / name, made[name])
        except OSError as error:
            raise click.ClickException(trouble(folder / name, error)) from error
        click.echo(f"{folder / name} written.")


def _holds(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode()
    except OSError:  # not there, or nothing that can be read: writing it says what is wrong
        return False


def _yaml(document: dict[str, object]) -> str:
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110)
