"""The algorithms as published."""
