"""Segment ordered, high-dimensional data into spans that lie in different subspaces.

The way of the data, one file for each arrow::

    file -> Recording -> X -> Z -> W -> k -> labels, boundaries -> metrics
       readers     rows  models   affinity        cut, boundaries
                         solvers      n_subspaces

Start with ``OSC().fit(X)`` for an array, or ``read(path)`` for a file.
"""

from seqspan.estimators import LRR, LSR, OSC, SSC, SpatSC
from seqspan.readers import read

__version__ = "0.1.0.dev0"

__all__ = ["LRR", "LSR", "OSC", "SSC", "SpatSC", "read"]
