"""Finds spans while samples arrive."""
