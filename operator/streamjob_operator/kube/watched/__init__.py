"""What the watches have told: one copy of StreamJobs, PartitionMaps and Spark's pods, so that a look asks nobody."""
