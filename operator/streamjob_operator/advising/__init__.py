"""`streamjob advise`: a running query's plan, read from its agent, and what to change in it."""
