"""Scaling rules: how many executors are wished for. Pure; each keeps its own state and stabilises in its own way."""
