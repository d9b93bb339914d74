"""Steps from rows to rows before anything is solved, and the chain of them that ``"auto"`` chooses."""

from seqspan.preprocess._chain import (
    STEPS,
    Centre,
    Chain,
    Delay,
    Pca,
    Scale,
    Subsample,
    UnitNorm,
    make_chain,
    preprocess,
)

__all__ = [
    "STEPS",
    "Centre",
    "Chain",
    "Delay",
    "Pca",
    "Scale",
    "Subsample",
    "UnitNorm",
    "make_chain",
    "preprocess",
]
