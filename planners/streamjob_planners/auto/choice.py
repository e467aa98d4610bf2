"""From what kind of job this is to the planner that asks: pure, and slow to change its mind.

Each reason to leave the default holds from one threshold on and ceases to hold below a lower one, so that figures that
vary around a threshold do not make the planner flip from cycle to cycle. Where two hold, the first of RULES decides.
"""

from __future__ import annotations

import dataclasses
import enum

from streamjob_planners.auto.features import Features


class Why(enum.StrEnum):
    """Why it is this planner: a stable code."""

    TALKS = "KeyGroupsTalk"
    USUAL = "NothingUnusual"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A reason to leave the default: `figure` of the features, from `begins` on, until it is below `ends`."""

    why: Why
    planner: str
    figure: str
    begins: float
    ends: float
    sentence: str

    def holds(self, found: Features, before: str | None) -> bool:
        """`before`: the planner of the cycle before."""
        value: float = getattr(found, self.figure)
        return value >= (self.ends if before == self.planner else self.begins)


TALKS = Rule(
    why=Why.TALKS,
    planner="albic",
    figure="traffic_ratio",
    begins=0.1,
    ends=0.05,
    sentence="traffic between key groups costs enough of the load to bring them together",
)
RULES = (TALKS,)
"""In the order in which they decide; what each planner gained by is in docs/figures/tournament.md."""
USUAL = "search"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The planner, and why."""

    planner: str
    why: Why
    sentence: str


def choose(found: Features, before: str | None = None) -> Choice:
    """The planner for a job; `before` is that of the cycle before, None for none."""
    rule = next((one for one in RULES if one.holds(found, before)), None)
    if rule is None:
        sentence = f"Planner {USUAL} by auto ({Why.USUAL}): traffic does not speak for another."
        return Choice(planner=USUAL, why=Why.USUAL, sentence=sentence)
    sentence = f"Planner {rule.planner} by auto ({rule.why}): {rule.sentence}."
    return Choice(planner=rule.planner, why=rule.why, sentence=sentence)
