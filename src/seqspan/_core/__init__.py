"""Shared by all stages: types, threads, memory, checks, text."""
