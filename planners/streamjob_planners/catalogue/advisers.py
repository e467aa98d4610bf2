"""What each adviser is for."""

from __future__ import annotations

from streamjob_planners.catalogue.description import Description

ADVISERS = {
    "mwsc": Description(
        what="Chooses among all small components those with the least traffic between them, by a solver.",
        choose_when="Nothing speaks for the other one: this is the default, and never dearer than it.",
        cost="Up to some seconds; a proof that no choice among its candidates is cheaper.",
        source="Component-based parallelization, section 5.2, algorithm 2.",
    ),
    "greedy": Description(
        what="Joins operators along the streams, then makes the best admissible move, again and again.",
        choose_when="A plan has hundreds of operators, and an answer in milliseconds matters.",
        cost="Moves of one operator at a time, until none gains.",
        source="Component-based parallelization, section 5.1, algorithm 1.",
    ),
}
"""By name, as in `streamjob_planners.advice.registry`."""
