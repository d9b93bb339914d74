"""Five subspaces of dimension 4 in R^100 under noise [paper, "Synthetic Subspace Segmentation"]."""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.datasets import make_subspaces
from seqspan.reproduction._methods import VARIANTS
from seqspan.reproduction._noise import Grid, NoiseExperiment, Source, make_coefficient_panels, make_quick


def _load(source: Source, rng: np.random.Generator, data: str | None) -> tuple[Array, IntArray]:
    """Draw the paper's data."""
    return make_subspaces(coefficient_mean=source[0] or 0.0, rng=rng)


_KNOWN = {
    0.1: {
        (7.0, "osc"): 0.0, (4.0, "osc"): 0.002, (4.0, "ssc"): 0.135, (4.0, "lrr"): 0.637,
        (4.0, "spatsc"): 0.019, (4.0, "osc_as_coded"): 0.263,
    },
    0.0: {
        (13.0, "osc"): 0.016, (10.0, "osc"): 0.043, (7.0, "osc"): 0.222, (4.0, "osc"): 0.430,
        (13.0, "ssc"): 0.0, (10.0, "ssc"): 0.024, (7.0, "ssc"): 0.373, (4.0, "ssc"): 0.652,
    },
}  # fmt: skip
_GRID = Grid(variants=VARIANTS)

SYNTHETIC = NoiseExperiment(
    name="synthetic",
    title="Synthetic data",
    panels=make_coefficient_panels("Synthetic data", _KNOWN),
    full=_GRID,
    quick=make_quick(_GRID),
    load=_load,
    seconds=0.06,
)
