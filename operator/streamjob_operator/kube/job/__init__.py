"""One turn of one StreamJob: its driver, its cycle, its status."""
