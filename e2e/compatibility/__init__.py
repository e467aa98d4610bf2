"""What users run, row by row, on real Spark: each row's job with the agent in its driver, moved, drained and killed.

`make spark-compatibility` runs every row and writes docs/reference/compatibility.md.
"""
