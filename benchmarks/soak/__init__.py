"""Thousands of random fits, and what they may take: ``python -m benchmarks.soak --help``."""
