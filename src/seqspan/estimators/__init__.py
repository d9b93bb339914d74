"""The pipeline as scikit-learn estimators: rows in, labels out. One file per method."""

from seqspan.estimators._base import SubspaceSegmenter
from seqspan.estimators._checks import expected_failed_checks
from seqspan.estimators._segment import METHODS, segment
from seqspan.estimators.lrr import LRR
from seqspan.estimators.lsr import LSR
from seqspan.estimators.osc import OSC
from seqspan.estimators.spatsc import SpatSC
from seqspan.estimators.ssc import SSC
from seqspan.methods._defaults import table_of_defaults

__all__ = [
    "LRR", "LSR", "METHODS", "OSC", "SSC", "SpatSC", "SubspaceSegmenter", "expected_failed_checks",
    "segment", "table_of_defaults",
]  # fmt: skip
