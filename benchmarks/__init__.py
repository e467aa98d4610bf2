"""Measurements beside their anchors; in no wheel. A package by this file: pyarrow 17 installs another `benchmarks`."""
