"""Hours of queries that start, stop and fail in one driver, with executors killed: what the agent keeps levels off.

`make soak` runs it, plots it and writes docs/soak.md.
"""
