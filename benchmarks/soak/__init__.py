"""Thousands of random fits, and the memory they use: ``python -m benchmarks.soak --help``."""
