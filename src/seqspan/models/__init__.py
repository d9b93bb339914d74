"""What is minimised: the objectives of the paper and of the methods it compares with.

Every model is a sum of terms ``loss(X - XZ) + penalty(Z) + coupling(ZD)``. A solver needs nothing else.
"""

from seqspan.models.base import Coupling, Model
from seqspan.models.differences import Path
from seqspan.models.objectives import (
    GraphRegularised,
    Lrr,
    LrrColumnNoise,
    LrrNoiseFree,
    Lsr,
    Osc,
    OscLowRank,
    SpatSc,
    Ssc,
    SscNoiseFree,
    SscOutliers,
)
from seqspan.models.terms import Absolute, ColumnNorms, SingularValues, Squares, Term

__all__ = [
    "Absolute",
    "ColumnNorms",
    "Coupling",
    "GraphRegularised",
    "Lrr",
    "LrrColumnNoise",
    "LrrNoiseFree",
    "Lsr",
    "Model",
    "Osc",
    "OscLowRank",
    "Path",
    "SingularValues",
    "SpatSc",
    "Squares",
    "Ssc",
    "SscNoiseFree",
    "SscOutliers",
    "Term",
]
