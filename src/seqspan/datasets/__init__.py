"""Generators of data with known labels, and noise of a given strength."""

from seqspan.datasets.motion import make_motion
from seqspan.datasets.noise import add_noise
from seqspan.datasets.spectra import make_spectra
from seqspan.datasets.synthetic import make_recurring_subspaces, make_subspaces

__all__ = [
    "add_noise",
    "make_motion",
    "make_recurring_subspaces",
    "make_spectra",
    "make_subspaces",
]
