"""From a SparkApplication to the StreamJob that says the same, and sentences about what has no way."""
