"""Scaling rules of others, each by its source: what their own maintainers would find again."""
