"""Another number of key groups for a query that stands still: its checkpoint is copied, the copy changed and checked,
and only then put in the place of the old state (decision 0068).

It lives beside the agent since it needs what the job's own image has: its Spark, its file systems, their credentials.
"""
