"""Executors by what their slots, batches and memory are used for, stabilised by two windows of time."""
