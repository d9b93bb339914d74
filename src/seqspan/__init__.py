"""Segment ordered, high-dimensional data into spans that lie in different subspaces."""

__version__ = "0.1.0.dev0"
