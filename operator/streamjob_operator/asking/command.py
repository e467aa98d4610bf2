"""The commands `streamjob explain` and `streamjob what-if`: of a job on a cluster, or of what a file holds."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamjob_operator.installed import brought_by
from streamjob_operator.options import duration

if TYPE_CHECKING:
    from streamjob_operator.asking.answer import Rate
    from streamjob_operator.asking.where import Where

FAILED = 1
FILE = click.Path(path_type=Path)
MOST_RATE = 1e12
"""Rows per second, or times today's."""
_RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(x|)")
_RATE_HINT = "a factor such as 2x, or rows per second such as 5000, is needed"
EXECUTORS = click.IntRange(min=1, max=10_000)


def _rate(_: click.Context, __: click.Parameter, value: str) -> Rate:
    from streamjob_operator.asking.answer import Rate

    match = _RATE.fullmatch(value)
    if match is None or not 0 < float(match[1]) <= MOST_RATE:
        raise click.BadParameter(f"'{value}' given; {_RATE_HINT}, above 0 and at most {MOST_RATE:g}")
    number = float(match[1])
    return Rate(factor=number) if match[2] else Rate(rows=number)


def somewhere(body: Callable[..., None]) -> Callable[..., None]:
    """Give the command a NAME on a cluster or a file, and hand it the Where in their place."""

    @click.argument("name", required=False)
    @click.option("--from", "source", metavar="FILE", type=FILE, help="history.jsonl or snapshot.json, not a cluster.")
    @click.option("--kubeconfig", type=click.Path(dir_okay=False), help="Default: $KUBECONFIG, else ~/.kube/config.")
    @click.option("--context", help="Context of the kubeconfig. Default: its current one.")
    @click.option("--namespace", "-n", help="Default: that of the context.")
    @functools.wraps(body)
    def command(
        name: str | None,
        source: Path | None,
        kubeconfig: str | None,
        context: str | None,
        namespace: str | None,
        **given: Any,
    ) -> None:
        if (name is None) == (source is None):
            raise click.UsageError("One of NAME, a StreamJob on a cluster, and --from, a file, is needed.")
        from streamjob_operator.asking.where import InFile, on_cluster

        if source is not None:
            _no_cluster(**{"--kubeconfig": kubeconfig, "--context": context, "--namespace": namespace})
            where: Where = InFile(source)
        else:
            with brought_by("operator"):
                where = on_cluster(name or "", kubeconfig, context, namespace)
        body(where, **given)

    return command


def _no_cluster(**given: str | None) -> None:
    for option, value in given.items():
        if value is not None:
            raise click.UsageError(f"{option}: {value} given; it is about a cluster, and --from about a file.")


@click.command()
@somewhere
def explain(where: Where) -> None:
    """Say why the job was or was not changed, how its number of executors came about, and what can be done."""
    from streamjob_operator.terminal import console

    console().print(where.explained(), highlight=False)


@click.command(name="what-if")
@somewhere
@click.option("--rate", default="1x", show_default=True, callback=_rate, help="2x of today's, or 5000 rows per second.")
@click.option("--executors", type=EXECUTORS, help="Executors to ask about. Default: as many as there are.")
@click.option("--max", "most", type=EXECUTORS, help="Most executors. Default: no limit.")
@click.option(
    "--objective", "objective_s", metavar="TIME", callback=duration(zero=False), help="What a batch may take."
)
@click.option("--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
def what_if(where: Where, most: int | None, executors: int | None, output: str, **asked: Any) -> None:
    """Predict batches at another rate or with other executors, and say how many executors are needed.

    Without --objective a batch may take 90 percent of the trigger interval. Nothing is changed anywhere.
    """
    from streamjob_operator.asking.answer import Question, answer
    from streamjob_operator.asking.show import answer_view
    from streamjob_operator.codec import encode
    from streamjob_operator.terminal import console

    if most is not None and executors is not None and executors > most:
        raise click.UsageError(f"--executors is {executors} and --max {most}; --executors may be --max at most.")
    decided = where.decided()
    found = answer(decided.measured, Question(executors=executors, most=most, **asked))
    if output == "json":
        click.echo(json.dumps({"kind": "what-if", "version": 1, "job": decided.name, **encode(found)}, indent=1))
    else:
        console().print(answer_view(decided.name, found), highlight=False)
    raise SystemExit(FAILED if found.needed is None else 0)
