"""`streamjob crds`: write the custom resource definitions, or say that they are stale."""

from __future__ import annotations

from pathlib import Path

import click
import yaml

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
    stale = [name for name, text in rendered().items() if _text(folder / name) != text]
    if check:
        for name in stale:
            click.echo(f"{folder / name} is stale: run `streamjob crds`.", err=True)
        raise SystemExit(STALE if stale else 0)
    folder.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (folder / name).write_text(rendered()[name], encoding="utf-8")
        click.echo(f"{folder / name} written.")


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def _yaml(document: dict[str, object]) -> str:
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110)
