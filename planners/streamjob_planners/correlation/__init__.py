"""Correlation-based load distribution (Xing's dissertation on load distribution in Borealis, chapter 5).

Loads that rise and fall together belong on different nodes: then the load of every node varies least, and the nodes
stay balanced when the load of the whole system changes.
"""
