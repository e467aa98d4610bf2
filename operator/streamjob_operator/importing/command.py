"""The command `streamjob import`."""

from __future__ import annotations

from pathlib import Path

import click

from streamjob_operator.files import keep, write_whole
from streamjob_operator.importing.reading import imported
from streamjob_operator.speaking import stopped
from streamjob_operator.spec import SpecError
from streamjob_operator.spec.reading import read_text


@click.command("import")
@click.argument("source", metavar="SPARKAPPLICATION.YAML", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), default=None, help="File to write. Default: standard output."
)
def import_command(source: Path, out: Path | None) -> None:
    """Write the StreamJob that says what a SparkApplication says, Kubeflow's or Apache's.

    What has no way is a comment in it and a line on stderr; nothing is left out unsaid. Ends with 2 where the result is
    no valid StreamJob yet: it is written all the same, for you to complete.
    """
    keep(source, "--out", out)
    try:
        result = imported(read_text(source))
    except SpecError as error:
        raise stopped(*error.sentences) from error
    if out is None:
        click.echo(result.text, nl=False)
    else:
        _write(out, result.text)
    ends = stopped(*result.notes, *result.mistakes)
    if result.mistakes:
        raise ends


def _write(out: Path, text: str) -> None:
    try:
        write_whole(out, text)
    except OSError as error:
        raise stopped(f"--out: {out} given; it cannot be written: {error.strerror}.") from error
