"""Files that a person names on a command line: written as a whole, never over what was read, and told of by name."""

from __future__ import annotations

from pathlib import Path

import click

from streamjob_operator.whole import replacing

_DEVICES = Path("/dev")


def write_whole(path: Path, text: str) -> None:
    """Write a file, its folders too; it is replaced as a whole, never half written. Raises OSError.

    What is there and is no file, such as a pipe, or stands for one, such as /dev/stdout, is written to: another file in
    its place is not meant.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and (not path.is_file() or path.is_relative_to(_DEVICES)):
        path.write_text(text, encoding="utf-8")
        return
    with replacing(path) as file:
        file.write(text.encode())


def trouble(path: Path, error: OSError) -> str:
    """What is wrong with a file, as a sentence; an error of the disk, such as a full one, names none."""
    return f"{error.filename or path}: {error.strerror or error}."


def keep(source: Path | None, option: str, target: Path | None) -> None:
    """Refuse to write over what is read, with a UsageError; either may be None, or a file that there is not."""
    if source is None or target is None:
        return
    try:
        same = source.samefile(target) and source.is_file()
    except OSError:  # whoever reads or writes it has the words for that
        same = False
    if same:
        raise click.UsageError(f"{option}: {target} given; that is what is read, and another file is needed.")
