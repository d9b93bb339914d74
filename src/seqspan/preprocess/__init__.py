"""Preprocessing: named steps from rows to rows, and the chain of steps that ``"auto"`` chooses."""

from seqspan.preprocess._chain import Chain, make_chain, preprocess
from seqspan.preprocess._steps import STEPS

__all__ = ["STEPS", "Chain", "make_chain", "preprocess"]
