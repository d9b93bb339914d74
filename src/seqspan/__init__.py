"""Segment ordered, high-dimensional data into spans that lie in different subspaces.

The data flow, one package for each stage::

    file  ->  Recording  ->  X  ->  Z  ->  spans  ->  Segmentation  ->  report, exports
      readers       preprocess  models    cuts
                                solvers

``seqspan.segment(source)`` takes a path, a Recording or an array of rows all the way.
"""

from seqspan.estimators import LRR, LSR, OSC, SSC, SpatSC, segment
from seqspan.readers import read
from seqspan.recording import Recording
from seqspan.segmentation import Segmentation

__version__ = "0.1.0.dev0"

__all__ = ["LRR", "LSR", "OSC", "SSC", "Recording", "Segmentation", "SpatSC", "read", "segment"]
