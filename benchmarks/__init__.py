"""Benchmarks: each file is one command, and prints one table."""
