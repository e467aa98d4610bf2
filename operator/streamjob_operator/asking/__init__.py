"""Answers from the batch model: what the last scaling decision rested on, and what would be if things were otherwise."""
