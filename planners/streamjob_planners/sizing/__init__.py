"""How many executors a job needs: what batches take on n of them, how often that is too long, where the backlog goes.

Pure: the rate that is expected, the work of a batch and what is wanted of it are arguments (decision 0051).
"""
