"""What each capacity estimator is for."""

from __future__ import annotations

from streamjob_planners.catalogue.description import Description

ESTIMATORS = {
    "even": Description(
        what="Takes all executors to be as fast as each other.",
        choose_when="You want a baseline to compare with.",
        cost="None.",
        source="Round robin of the blocking-rate paper, section 6.",
    ),
    "own-groups": Description(
        what="An executor is slow when all its key groups take longer by one factor, in two windows on end.",
        choose_when="Only windows are told: it needs no move. Where batches are, the controller goes by them.",
        cost="One pass over the key groups; seconds and errors of each are kept from window to window.",
        source="Ours.",
    ),
    "shared-groups": Description(
        what="Fits seconds of tasks by key group, rows and executor, over groups that several executors ran.",
        choose_when="Key groups move often anyway; a job at rest compares nothing.",
        cost="The tasks of the last windows are kept; one linear system of executors.",
        source="Ours, with the fading memory of the blocking-rate paper, section 5.4.",
    ),
    "blocking-rate": Description(
        what="Learns for how long each executor is waited for at each share of the rows, and levels that.",
        choose_when="You want to compare with the published splitter; it looks for better shares all the time.",
        cost="A function of 1001 points for each executor; shares swing while it explores.",
        source="Load balancing by blocking rates, section 5.",
    ),
}
"""By name, as in `streamjob_planners.capacity.registry`."""
