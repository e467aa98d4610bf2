"""The command `streamjob record`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamjob_operator.spec.quantities import format_duration, parse_duration
from streamjob_operator.unsteered import one_line

if TYPE_CHECKING:
    from streamjob_operator.recording.trace import Trace

BAD_INPUT = 2
FILE = click.Path(path_type=Path)
NEW_FILE = click.Path(path_type=Path, dir_okay=False)


def _duration(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    try:
        seconds = None if value is None else parse_duration(value)
    except ValueError as error:
        raise click.BadParameter(f"'{value}' given; {error}") from error
    if seconds is not None and seconds <= 0:
        raise click.BadParameter(f"'{value}' given; more than 0s is needed")
    return seconds


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for on the command line."""

    source: Path | None
    url: str | None
    query: str | None
    selection: str | None
    token_file: Path | None
    ca_file: Path | None
    since_s: float
    step_s: float | None
    name: str | None


@click.command(name="record")
@click.argument("trace", metavar="TRACE", type=NEW_FILE)
@click.option("--from", "source", metavar="FILE", type=FILE, help="history.jsonl of `streamjob run`.")
@click.option("--prometheus", "url", metavar="URL", help="Address of a Prometheus that scrapes the agent.")
@click.option("--query", metavar="ID", help="Spark's id of the query. Default: the only one that there is.")
@click.option("--select", "selection", metavar="LABELS", help="""Labels of the target: 'namespace="streams"'.""")
@click.option("--token-file", type=FILE, help="File with the token to log in to Prometheus with.")
@click.option("--ca-file", type=FILE, help="File with the authorities to trust, for https.")
@click.option(
    "--since", "since_s", metavar="TIME", default="7d", show_default=True, callback=_duration, help="Until now."
)
@click.option("--step", "step_s", metavar="TIME", callback=_duration, help="Default: 1m, or a history's own period.")
@click.option("--name", help="Name of the job, for people. Default: the history's, or the query's id.")
def record_command(trace: Path, **options: object) -> None:
    """Write what a job had to do, and did, to the file TRACE, for `streamjob replay`.

    It comes from the history of `streamjob run` (--from) or from Prometheus (--prometheus).
    """
    from streamjob_operator.recording.trace_file import TraceError, write_trace

    request = Request(**options)  # type: ignore[arg-type]  # click gives what the options say
    if (request.source is None) == (request.url is None):
        raise click.UsageError("One of --from and --prometheus is needed.")
    try:
        made = _of_history(request) if request.source is not None else _of_prometheus(request)
        write_trace(trace, made)
    except TraceError as error:
        raise _stop(error.sentences) from error
    except OSError as error:
        raise _stop([f"{error.filename}: {error.strerror}."]) from error
    click.echo(
        f"Written: {trace}, {len(made.rate)} steps of {format_duration(made.step_seconds)} of {one_line(made.job)}."
    )


def _of_history(request: Request) -> Trace:
    from streamjob_operator.recording.from_history import trace_of_history

    assert request.source is not None
    return trace_of_history(request.source, request.step_s, request.name)


def _of_prometheus(request: Request) -> Trace:
    """Imported here: only this needs a client of Prometheus."""
    try:
        from streamjob_operator.kube.metrics.http import Connection, Settings
        from streamjob_operator.recording.from_prometheus import Span, now_of, query_of, trace_of_prometheus
    except ImportError as error:
        raise click.UsageError(f"{error.name} is missing; `pip install 'streamjob[operator]'` brings it.") from error
    from streamjob_operator.ports import Unavailable

    settings = Settings(
        url=(request.url or "").rstrip("/"), token=_text(request.token_file), ca_pem=_text(request.ca_file)
    )
    connection = Connection(settings)
    try:
        end_s = now_of(connection)
        matchers = () if request.selection is None else (request.selection.strip("{} "),)
        span = Span(matchers=matchers, start_s=end_s - request.since_s, end_s=end_s, step_s=request.step_s or 60.0)
        query = request.query or query_of(connection, span)
        return trace_of_prometheus(connection, request.name or query, query, span)
    except Unavailable as error:
        raise _stop([str(error)]) from error
    finally:
        connection.close()


def _text(path: Path | None) -> str | None:
    try:
        return None if path is None else path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError as error:
        raise _stop([f"{path}: this is no text: {error}."]) from error


def _stop(sentences: Iterable[str]) -> SystemExit:
    """Each sentence on stderr, and the exit code to raise."""
    for sentence in sentences:
        click.echo(one_line(sentence), err=True)
    return SystemExit(BAD_INPUT)
