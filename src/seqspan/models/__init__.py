"""What is minimised: the objectives of the paper and of the methods it is compared with.

Every model is a sum ``loss(X - XZ) + penalty(Z) + coupling(ZD)`` of terms, and that is all a solver has to
know.
"""

from seqspan.models.base import Coupling, Model
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
    "SingularValues",
    "SpatSc",
    "Squares",
    "Ssc",
    "SscNoiseFree",
    "SscOutliers",
    "Term",
]
