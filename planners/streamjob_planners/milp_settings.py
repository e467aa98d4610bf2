"""Clauses of the paper's integer program (section 4.3.1) in which ours differs from it."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MilpSettings:
    """Which clauses hold as printed. Defaults are ours; docs/decisions/0055-clauses.md has what each costs.

    Attributes:
        ceiled_mean: distances are from the mean rounded up to a whole percent point (table 2).
        within_mean: constraint (5), no d above the mean: where no placement keeps it, nothing moves.
        drains: a second goal within the least d empties marked nodes; the paper has d alone (lemma 2).
    """

    ceiled_mean: bool = False
    within_mean: bool = False
    drains: bool = True


OURS = MilpSettings()
PUBLISHED = MilpSettings(ceiled_mean=True, within_mean=True, drains=False)
