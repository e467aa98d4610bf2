"""Streaming jobs of papers, benchmarks and daily use: plain PySpark, seeded input, answers computed without Spark."""
