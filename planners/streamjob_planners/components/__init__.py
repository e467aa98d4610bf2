"""Component-based parallelization (Guo and Zhou, "CBP: A New Parallelization Paradigm for Massively Distributed Stream
Processing"): which operators of a query to key alike, so that no tuple between them crosses the network.
"""
