"""The command `streamjob import`."""

from __future__ import annotations

from pathlib import Path

import click

from streamjob_operator.files import keep
from streamjob_operator.importing.reading import imported
from streamjob_operator.spec import SpecError
from streamjob_operator.spec.reading import read_text

BAD_SPEC = 2


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
        for sentence in error.sentences:
            click.echo(sentence, err=True)
        raise SystemExit(BAD_SPEC) from error
    if out is None:
        click.echo(result.text, nl=False)
    else:
        _write(out, result.text)
    for sentence in (*result.notes, *result.mistakes):
        click.echo(sentence, err=True)
    if result.mistakes:
        raise SystemExit(BAD_SPEC)


def _write(out: Path, text: str) -> None:
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        click.echo(f"--out: {out} given; it cannot be written: {error.strerror}.", err=True)
        raise SystemExit(BAD_SPEC) from error
