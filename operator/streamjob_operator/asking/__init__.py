"""Answers from the batch model: what a scaling decision rested on, and what would be if things were otherwise."""
