"""What each planner of the registry is for, in words for a person who has to choose one."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """One planner: what it does, when to choose it, what it takes, and where it comes from."""

    what: str
    choose_when: str
    cost: str
    source: str


DESCRIPTIONS = {
    "hold": Description(
        what="Changes nothing.",
        choose_when="You want measurements and reasons, but no move.",
        cost="None.",
        source="Ours.",
    ),
    "greedy": Description(
        what="Drains, sheds and fills in one pass, without looking ahead.",
        choose_when="You want a baseline to compare with.",
        cost="One pass over the key groups.",
        source="After the resource distribution goals of Cruise Control.",
    ),
    "milp": Description(
        what="Solves the integer program of load distance and draining.",
        choose_when="There are few key groups, and a proof that nothing is better matters.",
        cost="Its deadline, unless it proves its plan earlier.",
        source="ALBIC paper, section 4.3.1.",
    ),
    "search": Description(
        what="Levels nodes, proves a bound, then searches on towards it.",
        choose_when="Nothing speaks for another one: this is the default.",
        cost="A first plan in milliseconds, better ones until its deadline.",
        source="Ours; objective and constraints of the ALBIC paper, section 4.3.1.",
    ),
    "albic": Description(
        what="Brings key groups that talk to each other together, as many pairs a round as the budget allows.",
        choose_when="Operators are chained, and what they shuffle costs more than a few points of balance.",
        cost="Up to three steps on one budget, within its deadline.",
        source="ALBIC paper, section 4.3.2, improved.",
    ),
    "albic-paper": Description(
        what="Brings one pair a round together, with sets whole.",
        choose_when="You want to compare with the published algorithm.",
        cost="One pair a round: slow to gather traffic.",
        source="ALBIC paper, section 4.3.2, algorithm 2.",
    ),
    "flux": Description(
        what="The most loaded node gives to the least loaded, the second to the last but one.",
        choose_when="You want a baseline to compare with.",
        cost="Passes over the nodes while the budget lasts.",
        source="Shah et al., ICDE 2003; ALBIC paper, section 2.2.",
    ),
    "cola": Description(
        what="Places everything from scratch by balanced cuts with little traffic.",
        choose_when="You want a baseline to compare with: it moves nearly everything.",
        cost="Many moves, or many rounds under a budget.",
        source="Khandekar et al., Middleware 2009; ALBIC paper, section 2.1.",
    ),
    "non-integrated": Description(
        what="Empties marked nodes first, whatever the load of the others.",
        choose_when="You want a baseline to compare with.",
        cost="The balance waits while nodes are drained.",
        source="ALBIC paper, section 5.1.",
    ),
}
"""By name; every planner of the registry has one, which a test keeps."""
