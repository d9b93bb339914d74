"""One recording on several machines: atoms split over the workers of a Dask cluster.

The rows of Z are independent but for two things, which are all that is exchanged: the thin product
``Q^T F`` (n, r) and, for OSC, the norms (n,) of the columns of U. Every worker keeps its rows of the two
states of the fast solver; the process that calls solves the small system and sums up.
"""
