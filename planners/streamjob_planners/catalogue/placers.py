"""What each initial placer is for."""

from __future__ import annotations

from streamjob_planners.catalogue.description import Description

PLACERS = {
    "spread": Description(
        what="Gives every node as many key groups of every operator as its capacity says.",
        choose_when="No load is known, or the loads of the run before say nothing about the next one.",
        cost="One pass over the key groups.",
        source="Ours.",
    ),
    "rod": Description(
        what="Keeps the most mixes of operators' rates within what all nodes can do.",
        choose_when="State is too large to move later, and which operator's load will grow is not known.",
        cost="One pass over the key groups, each tried on every node.",
        source="Dissertation on load distribution, chapter 4, figure 4.9.",
    ),
    "cor-glb": Description(
        what="Places each key group where its load goes least along with what is there already.",
        choose_when="Loads swing against each other, and a series of them is there; without one it spreads.",
        cost="Correlations of each key group with each node.",
        source="Dissertation on load distribution, section 5.2.2; sticky ones first, section 8.3.",
    ),
}
"""By name, as in `streamjob_planners.placement.registry`."""
