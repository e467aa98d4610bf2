"""Measurements: from a Prometheus, else from the agent's own page."""
