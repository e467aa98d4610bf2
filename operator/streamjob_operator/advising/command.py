"""The command `streamjob advise`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from streamjob_operator.options import address
from streamjob_operator.unsteered import one_line
from streamjob_planners.advice import registry as advisers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamjob_agent.plan_form import QueryPlan
    from streamjob_operator.advising.loads import Loads

FAILED, BAD_INPUT = 1, 2


@click.command(name="advise")
@click.argument("query", required=False)
@click.option(
    "--attach", metavar="ADDRESS", required=True, callback=address, help="Address of the running agent, HOST:PORT."
)
@click.option("--adviser", type=click.Choice(advisers.names()), default=advisers.DEFAULT, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for another program.")
def advise_command(query: str | None, attach: str, adviser: str, as_json: bool) -> None:
    """Say what a running query's shuffles cost, which of its operators to key alike, and which keys are too heavy for
    any placement; nothing is changed.

    QUERY is the query's name, or the beginning of its id; every query of the agent without it.
    """
    # Imported here: the other commands need no solver.
    from streamjob_operator.advising.loads import heavy_groups
    from streamjob_operator.advising.reading import job_plan
    from streamjob_operator.advising.show import document, render
    from streamjob_operator.terminal import console
    from streamjob_planners.advice.advise import advise

    plans, loads = _told(attach)
    found = [
        (one, plan, advise(plan, adviser), heavy_groups(plan, loads.get(one.query_id)))
        for one, plan in ((one, job_plan(one)) for one in _chosen(plans, query))
    ]
    if as_json:
        click.echo(json.dumps([document(*one) for one in found], indent=1))
        return
    out = console()
    for one in found:
        out.print(render(*one), highlight=False)


def _told(attach: str) -> tuple[tuple[QueryPlan, ...], Mapping[str, Loads]]:
    from streamjob_operator.advising.loads import loads_of
    from streamjob_operator.agent_http.client import AgentClient, fixed_address
    from streamjob_operator.ports import Unavailable

    client = AgentClient(fixed_address(attach))
    try:
        return client.plans(), loads_of(client)
    except Unavailable as error:
        click.echo(str(error), err=True)
        raise SystemExit(FAILED) from error


def _chosen(plans: tuple[QueryPlan, ...], query: str | None) -> tuple[QueryPlan, ...]:
    if not plans:
        click.echo("The agent knows no plan yet: no query with state has ended a batch, or none runs.", err=True)
        raise SystemExit(FAILED)
    fits = tuple(one for one in plans if query is None or one.name == query or one.query_id.startswith(query))
    if not fits:
        known = ", ".join(one_line(one.name or one.query_id) for one in plans)
        click.echo(f"QUERY: '{query}' given; the queries of this agent are {known}.", err=True)
        raise SystemExit(BAD_INPUT)
    return fits
