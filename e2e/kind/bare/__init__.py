"""What a machine lacks that kind takes for granted: a Docker engine, a network that it may change, every capability."""
