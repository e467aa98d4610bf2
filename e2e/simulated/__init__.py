"""A driver whose Spark is a simulation: the agent, its page and its PartitionMap client are the real ones."""
