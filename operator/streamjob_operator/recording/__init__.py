"""Traces: what a job was asked to do over days, from its history or from Prometheus, in a file that can be replayed."""
