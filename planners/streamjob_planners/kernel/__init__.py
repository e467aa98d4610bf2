"""The inner loops of the search planner: plain functions on arrays, compiled where numba is installed."""
