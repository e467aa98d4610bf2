"""Traces: arrivals with a name, a shape and a seed, and what happens beside them."""
