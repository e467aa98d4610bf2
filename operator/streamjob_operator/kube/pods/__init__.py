"""Executors' pods: which there are, which are marked, which no node ends."""
