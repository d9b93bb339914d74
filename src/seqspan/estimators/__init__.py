"""The scikit-learn face: rows in, labels out.

Each docstring lists all parameters of an estimator, and its attributes after ``fit``; what they share is
written once, in ``_shared.py``. :class:`SubspaceSegmenter` holds what they do alike.
"""

from seqspan.estimators.ordered import COUPLED_SOLVERS, OSC, SpatSC
from seqspan.estimators.segmenter import SubspaceSegmenter
from seqspan.estimators.unordered import LRR, LSR, SSC

__all__ = ["COUPLED_SOLVERS", "LRR", "LSR", "OSC", "SSC", "SpatSC", "SubspaceSegmenter"]
