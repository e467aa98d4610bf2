"""What a person asks of StreamJobs on a cluster: `kubectl streamjob`."""
