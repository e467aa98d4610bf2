"""The command `streamjob record`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamjob_operator.files import keep, trouble
from streamjob_operator.installed import brought_by
from streamjob_operator.options import duration, web_address
from streamjob_operator.speaking import stopped
from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.unsteered import one_line

if TYPE_CHECKING:
    from streamjob_operator.recording.trace import Trace

SINCE_S = 604_800.0
"""A week, where nobody says from when on."""
OF_PROMETHEUS = {
    "query": "--query",
    "selection": "--select",
    "token_file": "--token-file",
    "ca_file": "--ca-file",
    "since_s": "--since",
}
"""Options that a history knows nothing of."""
_TOKEN = re.compile(r"[!-~]+")
FILE = click.Path(path_type=Path)
NEW_FILE = click.Path(path_type=Path, dir_okay=False)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for on the command line."""

    source: Path | None
    url: str | None
    query: str | None
    selection: str | None
    token_file: Path | None
    ca_file: Path | None
    since_s: float | None
    step_s: float | None
    name: str | None


@click.command(name="record")
@click.argument("trace", metavar="TRACE", type=NEW_FILE)
@click.option("--from", "source", metavar="FILE", type=FILE, help="history.jsonl of `streamjob run`.")
@click.option(
    "--prometheus", "url", metavar="URL", callback=web_address, help="Address of a Prometheus that scrapes the agent."
)
@click.option("--query", metavar="ID", help="Spark's id of the query. Default: the only one that there is.")
@click.option("--select", "selection", metavar="LABELS", help="""Labels of the target: 'namespace="streams"'.""")
@click.option("--token-file", type=FILE, help="File with the token to log in to Prometheus with.")
@click.option("--ca-file", type=FILE, help="File with the authorities to trust, for https.")
@click.option("--since", "since_s", metavar="TIME", callback=duration(zero=False), help="Until now. Default: 7d.")
@click.option(
    "--step", "step_s", metavar="TIME", callback=duration(zero=False), help="Default: 1m, or a history's own period."
)
@click.option("--name", help="Name of the job, for people. Default: the history's, or the query's id.")
def record_command(trace: Path, **options: object) -> None:
    """Write what a job had to do, and did, to the file TRACE, for `streamjob replay`.

    It comes from the history of `streamjob run` (--from) or from Prometheus (--prometheus).
    """
    from streamjob_operator.recording.trace_file import TraceError, write_trace

    request = Request(**options)  # type: ignore[arg-type]  # click gives what the options say
    if (request.source is None) == (request.url is None):
        raise click.UsageError("One of --from and --prometheus is needed.")
    unused = [said for name, said in OF_PROMETHEUS.items() if getattr(request, name) is not None]
    if request.source is not None and unused:
        raise click.UsageError(f"{unused[0]} goes with --prometheus; a history is recorded as a whole.")
    keep(request.source, "TRACE", trace)
    try:
        made = _of_history(request) if request.source is not None else _of_prometheus(request)
        write_trace(trace, made)
    except TraceError as error:
        raise _stop(error.sentences) from error
    except OSError as error:
        raise _stop([trouble(trace, error)]) from error
    click.echo(
        f"Written: {trace}, {len(made.rate)} steps of {format_duration(made.step_seconds)} of {one_line(made.job)}."
    )


def _of_history(request: Request) -> Trace:
    from streamjob_operator.recording.from_history import trace_of_history

    assert request.source is not None
    return trace_of_history(request.source, request.step_s, request.name)


def _of_prometheus(request: Request) -> Trace:
    """Imported here: only this needs a client of Prometheus."""
    with brought_by("operator"):
        from streamjob_operator.kube.metrics.http import Connection, Settings
        from streamjob_operator.recording.from_prometheus import Span, now_of, query_of, trace_of_prometheus
    from streamjob_operator.ports import Unavailable

    settings = Settings(
        url=(request.url or "").rstrip("/"), token=_token(request.token_file), ca_pem=_text(request.ca_file)
    )
    connection = Connection(settings)
    try:
        end_s = now_of(connection)
        matchers = () if request.selection is None else (request.selection.strip("{} "),)
        span = Span(
            matchers=matchers, start_s=end_s - (request.since_s or SINCE_S), end_s=end_s, step_s=request.step_s or 60.0
        )
        query = request.query or query_of(connection, span)
        return trace_of_prometheus(connection, request.name or query, query, span)
    except Unavailable as error:
        raise _stop([str(error)]) from error
    finally:
        connection.close()


def _token(path: Path | None) -> str | None:
    """What a header can hold: of any other the HTTP library's error would quote the log-in."""
    token = _text(path)
    if token is not None and not _TOKEN.fullmatch(token):
        what = "it is empty, or has spaces, line breaks or letters beyond ASCII; one word is needed"
        raise _stop([f"--token-file: {path} given; {what}."])
    return token


def _text(path: Path | None) -> str | None:
    try:
        return None if path is None else path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError as error:
        raise _stop([f"{path}: this is no text: {error}."]) from error


def _stop(sentences: Iterable[str]) -> SystemExit:
    """See `stopped`; what a file or a server says may not steer the terminal."""
    return stopped(*map(one_line, sentences))
