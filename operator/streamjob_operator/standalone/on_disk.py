"""What is kept of cycles on a disk, and a person who hears when that takes no more."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from streamjob_operator.files import trouble
from streamjob_operator.ports import Reporter
from streamjob_operator.values import CycleRecord


@dataclasses.dataclass(slots=True)
class OnDisk:
    """A reporter that writes to `path`: its trouble is told once, until it writes again or the trouble is another one.

    The error goes on to who counts it.
    """

    reporter: Reporter
    path: Path
    tell: Callable[[str], None]
    told: str = ""

    def report(self, record: CycleRecord) -> None:
        """Report; raises OSError as the reporter does."""
        try:
            self.reporter.report(record)
        except OSError as error:
            sentence = f"What cycles saw and did is not kept: {trouble(self.path, error)} The job goes on."
            if sentence != self.told:
                self.tell(sentence)
            self.told = sentence
            raise
        self.told = ""
