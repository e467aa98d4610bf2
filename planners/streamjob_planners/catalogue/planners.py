"""What each planner is for."""

from __future__ import annotations

from streamjob_planners.catalogue.description import Description

PLANNERS = {
    "auto": Description(
        what="Looks at the job's own traffic, and asks albic or search.",
        choose_when="You do not know what kind of job it is, or it changes; it says whom it asked, and why.",
        cost="That of the planner asked, and some milliseconds.",
        source="Ours, from the tournament: docs/figures/tournament.md.",
    ),
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
        what="Solves an integer program, of the time of a batch or of the load distance, and of draining.",
        choose_when="There are few key groups, and a proof that nothing is better matters.",
        cost="Its deadline, unless it proves its plan earlier.",
        source="ALBIC paper, section 4.3.1.",
    ),
    "milp-paper": Description(
        what="Solves the integer program as printed: constraint (5), the mean rounded up, no second goal.",
        choose_when="You want to compare with the published program.",
        cost="Its deadline; it holds where an executor cannot be brought within twice the mean.",
        source="ALBIC paper, section 4.3.1, table 2.",
    ),
    "search": Description(
        what="Levels nodes, proves a bound, searches on towards it; evens out batches one by one where loads swing.",
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
    "albic-paper-milp": Description(
        what="albic-paper with the published integer program inside, where albic-paper searches.",
        choose_when="You want to compare with the published algorithm and its solver.",
        cost="One pair a round, and its deadline.",
        source="ALBIC paper, sections 4.3.1 and 4.3.2, algorithm 2.",
    ),
    "elb": Description(
        what="Relieves hot nodes of their largest key groups, first fit, largest first.",
        choose_when="Loads change slowly, and few moves matter more than the last point of balance.",
        cost="One pass over the hot nodes.",
        source="Stateful load balancing (ELB, CLB), section 3, algorithm 1.",
    ),
    "clb": Description(
        what="Puts key groups together that swing against each other, so that nodes vary less from window to window.",
        choose_when="Loads swing, and a series of windows is there; without one it changes nothing.",
        cost="Covariances of all key groups, then a greedy cut.",
        source="Stateful load balancing (ELB, CLB), section 4, algorithm 2.",
    ),
    "cor-glb": Description(
        what="Places all key groups anew, each where its load goes least along with what is there already.",
        choose_when="Loads swing, moves are cheap, and a series of windows is there; without one it changes nothing.",
        cost="Correlations of each key group with each node; many moves.",
        source="Dissertation on load distribution, section 5.2.2.",
    ),
    "cor-bal": Description(
        what="Nodes in pairs: the fuller one gives what swings along with it to the emptier one.",
        choose_when="You want to compare with the one-way form of correlation-based balancing.",
        cost="One pass over pairs of nodes.",
        source="Dissertation on load distribution, section 5.2.1, figure 5.2.",
    ),
    "cor-re": Description(
        what="Nodes in pairs, each pair shared out anew by correlation, with the improvement for pairs that diverge.",
        choose_when="Loads swing, and moves are cheap.",
        cost="Pairs of nodes placed from empty; more moves than cor-se.",
        source="Dissertation on load distribution, section 5.2.1, figures 5.3 and 5.5.",
    ),
    "cor-se": Description(
        what="Nodes in pairs exchange only key groups whose place matters, improved for pairs that diverge.",
        choose_when="Loads swing, and moves are dear.",
        cost="Pairs of nodes; the fewest moves of the correlation-based ones.",
        source="Dissertation on load distribution, section 5.2.1, figures 5.4 and 5.5.",
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
"""By name, as in `streamjob_planners.registry`."""
