"""What rate is to be expected a while from now, from a job's own past, and how sure that is (decision 0051)."""
