"""Five mixtures of mineral spectra, 20 samples each, under noise [paper, "Semi-Synthetic Experiment"]."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.datasets import make_spectra
from seqspan.datasets.real import load_tirlib
from seqspan.reproduction._methods import VARIANTS
from seqspan.reproduction._noise import Grid, NoiseExperiment, Source, make_coefficient_panels, make_quick


@lru_cache(maxsize=2)
def _load_library(data: str | None) -> Array:
    """Load the mineral library once per process: 321 bands x 120 spectra."""
    return np.asarray(load_tirlib(data).X.T, dtype=float)


def _load(source: Source, rng: np.random.Generator, data: str | None) -> tuple[Array, IntArray]:
    """Mix spectra of the library."""
    return make_spectra(_load_library(data), coefficient_mean=source[0] or 0.0, rng=rng)


_KNOWN = {
    0.1: {
        (10.0, "osc"): 0.002, (7.0, "osc"): 0.022, (4.0, "osc"): 0.065,
        (10.0, "ssc"): 0.297, (7.0, "ssc"): 0.475, (4.0, "ssc"): 0.615,
        (10.0, "lrr"): 0.358, (7.0, "lrr"): 0.640, (4.0, "lrr"): 0.686,
    },
}  # fmt: skip
_GRID = Grid(variants=VARIANTS)

SPECTRA = NoiseExperiment(
    name="spectra",
    title="Semi-synthetic data: mineral spectra",
    panels=make_coefficient_panels("Mineral spectra", _KNOWN),
    full=_GRID,
    quick=make_quick(_GRID),
    load=_load,
    seconds=0.06,
)
