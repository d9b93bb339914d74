"""One recording on several machines: atoms split over the workers of a Dask cluster.

The rows of Z are independent except for two things, and only these are exchanged: the thin product
``Q^T F`` (n, r) and, for OSC, the norms (n,) of the columns of U. Every worker keeps its rows of V and U, the
state of the fast solver. The calling process solves the small system and sums the workers' results.
"""
