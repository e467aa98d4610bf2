"""The fewest executors whose batches are seldom late at the rate expected when they will be there (decision 0051)."""
