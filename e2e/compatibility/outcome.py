"""What came of a row: a value that the page is made of."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a row. `told` are the acts as they were seen, or the agent's sentence; `wrong` says what failed.

    `day` is that of the run, as ISO 8601 has it.
    """

    row: str
    spark: str
    java: str
    day: str
    took_s: float
    told: tuple[str, ...]
    wrong: tuple[str, ...] = ()
    not_run: str | None = None

    @property
    def good(self) -> bool:
        """Whether it was run and all was as it should be."""
        return not self.wrong and self.not_run is None
