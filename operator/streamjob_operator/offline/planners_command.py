"""The command `streamjob planners`."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import click

from streamjob_planners.kinds import KINDS, Kind


@click.command(name="planners")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for another program.")
def planners_command(as_json: bool) -> None:
    """List every planner, initial placer, adviser and capacity estimator.

    Each with what it does, when to choose it, what it takes, and where it comes from.
    """
    if as_json:
        click.echo(json.dumps({kind.name: _document(kind) for kind in KINDS}, indent=1))
        return
    # Imported here: tables are slow to import, and the other commands need none.
    from rich.table import Table

    from streamjob_operator.terminal import console

    for kind in KINDS:
        title = f"{kind.purpose} Chosen by {kind.chosen_by}."
        columns = (kind.name, "what it does", "choose it when", "what it takes", "source")
        table = Table(*columns, title=title, title_justify="left", show_lines=True)
        for name in kind.names():
            one = kind.described[name]
            shown = f"{name} (default)" if name == kind.default else name
            table.add_row(shown, one.what, one.choose_when, one.cost, one.source)
        console().print(table, highlight=False)


def _document(kind: Kind) -> dict[str, Any]:
    return {
        "purpose": kind.purpose,
        "chosen_by": kind.chosen_by,
        "default": kind.default,
        "entries": {name: dataclasses.asdict(kind.described[name]) for name in kind.names()},
    }
