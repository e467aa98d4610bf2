"""The command `streamjob planners`."""

from __future__ import annotations

import dataclasses
import json

import click

from streamjob_planners import registry
from streamjob_planners.catalogue import DESCRIPTIONS


@click.command(name="planners")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for another program.")
def planners_command(as_json: bool) -> None:
    """List every planner: what it does, when to choose it, what it takes, where it comes from."""
    described = {name: DESCRIPTIONS[name] for name in registry.names()}
    if as_json:
        click.echo(json.dumps({name: dataclasses.asdict(one) for name, one in described.items()}, indent=1))
        return
    # Imported here: tables are slow to import, and the other commands need none.
    from rich.table import Table

    from streamjob_operator.terminal import console

    table = Table("planner", "what it does", "choose it when", "what it takes", "source", show_lines=True)
    for name, one in described.items():
        shown = f"{name} (default)" if name == registry.DEFAULT else name
        table.add_row(shown, one.what, one.choose_when, one.cost, one.source)
    console().print(table, highlight=False)
