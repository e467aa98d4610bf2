"""A cluster of kind: three nodes in containers, on the Docker engine that is there or on one of our own."""
