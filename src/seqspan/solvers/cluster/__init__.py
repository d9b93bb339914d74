"""One sequence on several machines: atoms split over the workers of a Dask cluster.

The rows of Z are independent but for two things, which are all that is exchanged: the thin product
``Q^T F`` (n, r) and, for OSC, the norms (n,) of the columns of U. Every worker keeps its rows of the two
states of the fast solver; the process that calls solves the small system and sums up.
"""

from seqspan.solvers.cluster.files import map_on_cluster
from seqspan.solvers.cluster.solver import solve_on_cluster, traffic_per_iteration

__all__ = ["map_on_cluster", "solve_on_cluster", "traffic_per_iteration"]
