"""Streaming jobs of papers, benchmarks and daily use: plain PySpark, seeded input, and an answer computed without Spark."""
