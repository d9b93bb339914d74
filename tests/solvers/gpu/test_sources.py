"""What can be known about the device functions without a GPU: they are there, and sizes agree with Python."""

from __future__ import annotations

import re
from importlib.resources import files

import numpy as np
import pytest

from seqspan.solvers.gpu import device_functions as functions
from seqspan.solvers.gpu import pieces
from seqspan.solvers.gpu.products import tiles_to_expand, tiles_to_project

SOURCE = "\n".join(files("seqspan.solvers.gpu").joinpath(name).read_text() for name in functions.SOURCES)
LAUNCHED = re.findall(
    r'"([a-z_]+)", ', files("seqspan.solvers.gpu").joinpath("device_functions.py").read_text()
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LENGTH", pieces.LENGTH),
        ("BANDS", functions.BANDS),
        ("PATH_THREADS", functions.PATH_THREADS),
        ("RUNS", functions.RUNS),
        ("RANK_TILE", functions.RANK_TILE),
        ("BUILD_WARPS", functions.BUILD_WARPS),
    ],
)
def test_sizes_are_the_same_on_both_sides(name, value):
    assert re.findall(rf"constexpr int {name} = (\d+);", SOURCE) == [str(value)]


def test_blocks_have_as_many_threads_as_they_are_launched_with():
    assert "constexpr int THREADS = 512 / sizeof(real);" in SOURCE
    assert (
        "self.threads = 512 // np.dtype(dtype).itemsize"
        in files("seqspan.solvers.gpu").joinpath("device_functions.py").read_text()
    )


@pytest.mark.parametrize(
    "name", sorted({*LAUNCHED, *functions.FUSED_BUILDS, *functions.FUSED_UPDATES} - {"seqspan"})
)
def test_what_is_launched_is_there(name):
    assert re.search(rf"\b{name}[(,]", SOURCE)  # a comma where a macro defines it


def multiply_in_a_warp(tiles, pairs):
    """What ``mma.m16n8k8`` does with four numbers (32, 4) and two numbers (32, 2) of every lane."""
    A, B, g, c = np.zeros((16, 8)), np.zeros((8, 8)), np.arange(32) // 4, np.arange(32) % 4
    A[g, c], A[g + 8, c], A[g, c + 4], A[g + 8, c + 4] = tiles.T
    B[c, g], B[c + 4, g] = pairs.T
    return A @ B


@pytest.mark.parametrize("rank", [5, 64, 70])
def test_tiles_of_the_fused_passes_yield_their_products(rank):
    rng, m = np.random.default_rng(rank), 96
    Q, F, thin = rng.standard_normal((rank, m)), rng.standard_normal((32, m)), np.zeros((80, 32))
    thin[:rank] = rng.standard_normal((rank, 32))
    to_project, to_expand = tiles_to_project(Q), tiles_to_expand(Q)
    g, c = np.arange(32) // 4, np.arange(32) % 4
    projected, expanded = np.zeros((64 * len(to_project), 32)), np.zeros((m, 32))
    for tile, k in np.ndindex(m // 32, 4):
        steps = slice(8 * k, 8 * k + 8)
        for z, part, j in np.ndindex(len(to_project), 4, 4):
            atoms = 32 * tile + 8 * part + 2 * c
            pairs = np.stack([F[8 * k + g, atoms], F[8 * k + g, atoms + 1]], axis=1)
            of_lanes = to_project[z, tile].reshape(16, 32, 4)[4 * part + j]
            projected[64 * z + 16 * j :][:16, steps] += multiply_in_a_warp(of_lanes, pairs)
        for block, half in np.ndindex(to_expand.shape[1] // 64, 2):
            pairs = np.stack([thin[8 * block + c, 8 * k + g], thin[8 * block + 4 + c, 8 * k + g]], axis=1)
            rows = multiply_in_a_warp(to_expand[tile].reshape(-1, 2, 32, 4)[block, half], pairs)
            atoms = 32 * tile + 2 * half + 4 * np.arange(8)
            expanded[atoms, steps] += rows[:8]
            expanded[atoms + 1, steps] += rows[8:]
    np.testing.assert_allclose(projected[:rank], Q @ F.T, atol=1e-12)
    assert not projected[rank:].any()
    np.testing.assert_allclose(expanded, Q.T @ thin[:rank], atol=1e-12)
