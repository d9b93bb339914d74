"""Spans while samples arrive."""
