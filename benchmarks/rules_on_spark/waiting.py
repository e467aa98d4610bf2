"""Rows that wait in Kafka, as one sees them who looks from outside: what was handed over less what batches took in.

Spark's own word is of no use to a rule on lag: without a limit of rows a batch takes all there was when it began, and
that is what Spark holds its end against, so it says 0 after every batch.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Callable

from jobs.taken import logged, newest
from jobs.topics import reached

from streamjob_operator.scaling.rule import ScalingRule, Situation, State, Wish


def taken(checkpoint: pathlib.Path) -> int:
    """Rows that committed batches took in."""
    last = newest(checkpoint / "commits")
    if last < 0:
        return 0
    offsets = logged(checkpoint / "offsets" / str(last)).offsets
    return sum(sum(ends.values()) for ends in reached(offsets).values())


def tell(file: pathlib.Path, rows: int) -> None:
    """So many rows were handed over by now."""
    temporary = file.with_name(f"{file.name}.new")
    temporary.write_text(str(rows), encoding="ascii")
    os.replace(temporary, file)


def lag_rows(file: pathlib.Path, checkpoint: pathlib.Path) -> float:
    """Rows that wait now."""
    given = int(file.read_text(encoding="ascii")) if file.exists() else 0
    return float(max(0, given - taken(checkpoint)))


@dataclasses.dataclass(frozen=True, slots=True)
class FromOutside:
    """A rule that goes by a lag of another's telling."""

    rule: ScalingRule
    lag_rows: Callable[[], float]

    @property
    def name(self) -> str:
        """See ScalingRule."""
        return self.rule.name

    def decide(self, situation: Situation, state: State | None) -> tuple[Wish, State]:
        """See ScalingRule."""
        rates = dataclasses.replace(situation.snapshot.rates, lag_rows=self.lag_rows())
        snapshot = dataclasses.replace(situation.snapshot, rates=rates)
        return self.rule.decide(dataclasses.replace(situation, snapshot=snapshot), state)
