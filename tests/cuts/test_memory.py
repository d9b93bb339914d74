"""What a cut asks for is at least what it takes, and follows the size of the problem."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from seqspan.cuts import make_cutter
from seqspan.cuts.memory import cut_bytes
from seqspan.cuts.ordered.cut import GRID_POINTS
from seqspan.cuts.ordered.features import N_ANCHORS
from seqspan.cuts.spectral.spectrum import DEPTH, GUARD


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("cut", "n_subspaces"), [("ncut", 5), ("ncut", "auto"), ("ordered", "auto"), ("peaks", "auto")]
)
@pytest.mark.parametrize("m", [60, 600])
def test_a_cut_takes_no_more_than_it_asks_for(cut, n_subspaces, dtype, m):
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((5, 600)).astype(dtype), rng.standard_normal((m, 600)).astype(dtype)
    make_cutter(cut, X[:, :80], Z[:, :80], rng=0).cut(n_subspaces=n_subspaces)  # imports and compiles
    tracemalloc.start()
    try:
        make_cutter(cut, X, Z, rng=0).cut(n_subspaces=n_subspaces)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert taken <= cut_bytes(cut, Z.shape, dtype, n_subspaces) + 2**16  # objects of no size to speak of


def test_one_label_needs_no_eigenvectors():
    shape = (4000, 4000)
    one, two, estimated = (cut_bytes("ncut", shape, float, k) for k in (1, 2, "auto"))
    assert one == cut_bytes("peaks", shape, float, 1) == 2 * 8 * 4000**2
    assert one < two < estimated


def test_costs_of_spans_stop_growing_with_the_grid():
    few, as_many, more = (cut_bytes("ordered", (100, n), float, "auto") for n in (1500, GRID_POINTS, 3500))
    features = 2 * 8 * N_ANCHORS  # for every sample more
    assert as_many - few == 4 * ((GRID_POINTS + 1) ** 2 - 1501**2) + features * (GRID_POINTS - 1500)
    assert more - as_many == features * (3500 - GRID_POINTS)


def test_eigenvectors_of_large_affinities_take_room_for_every_sample():
    """Blocks of a Krylov basis, its image and two more, each as many vectors as the basis has."""
    small, large = (cut_bytes("ncut", (10, n), float, 2) for n in (4000, 8000))
    assert large == 2 * small
    assert small == 2 * 8 * 10 * 4000 + 4 * 8 * 4000 * (2 + GUARD) * DEPTH
