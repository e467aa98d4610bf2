"""`python -m streamjob_agent repartition`: the command of the driver's own image, which has nothing but the agent."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from streamjob_agent.repartition.asking import ONE_OF, Asked, carry_out, setting

STOPPED = 128 + signal.SIGTERM
"""Exit code of a command that was asked to stop and has changed nothing."""
LAST_WORDS = "STREAMJOB_LAST_WORDS"
"""Names a file that gets why it was refused; on pods the one that Kubernetes reads at the end."""


def main(words: Sequence[str]) -> int:
    """The exit code: 0 done, 2 refused, and 128 + 15 where SIGTERM came before anything had been changed."""
    asked, conf = _read(words)
    stop = Stop()
    signal.signal(signal.SIGTERM, stop.on_signal)
    return carry_out(asked, conf, tell=_say, complain=_complain, unbroken=stop.held_back)


class Stop:
    """SIGTERM ends the command at once, but for the short time in which a query could not be started afterwards."""

    def __init__(self) -> None:
        self._held = False
        self._asked = False

    def on_signal(self, number: int, frame: object) -> None:
        """See signal.signal."""
        self._asked = True
        if not self._held:
            raise SystemExit(STOPPED)

    @contextlib.contextmanager
    def held_back(self) -> Iterator[None]:
        """What is done within it is done to the end: afterwards a query can start, so no signal is owed any more."""
        self._held = True
        if self._asked:  # it came before, and a library took its exception for one of its own
            self._held = False
            raise SystemExit(STOPPED)
        try:
            yield
        finally:
            self._held = False


def _read(words: Sequence[str]) -> tuple[Asked, dict[str, str]]:
    parser = argparse.ArgumentParser(
        prog="python -m streamjob_agent repartition",
        description="Give a stopped query another number of key groups; the same as `streamjob repartition`.",
    )
    parser.add_argument("checkpoint", metavar="CHECKPOINT")
    parser.add_argument("--key-groups", type=_at_least_one, metavar="N")
    for option in ("--dry-run", "--undo", "--clean"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--conf", type=_setting, action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args(list(words))
    asked = Asked(
        checkpoint=given.checkpoint,
        key_groups=given.key_groups,
        dry_run=given.dry_run,
        undo=given.undo,
        clean=given.clean,
    )
    if not asked.makes_sense:
        parser.error(ONE_OF)
    return asked, dict(given.conf)


def _at_least_one(text: str) -> int:
    try:
        number = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a valid integer") from error
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not in the range x>=1")
    return number


def _setting(text: str) -> tuple[str, str]:
    try:
        return setting(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _say(sentence: str) -> None:
    sys.stdout.write(sentence + "\n")
    sys.stdout.flush()


def _complain(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")
    if path := os.environ.get(LAST_WORDS):
        with contextlib.suppress(OSError):  # the stream, where Spark writes, too, has it
            Path(path).write_text(sentence + "\n", encoding="utf-8")
