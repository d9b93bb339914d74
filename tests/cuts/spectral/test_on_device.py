"""The cut that does all its starts at once, in NumPy, against the one that does them one by one."""

from __future__ import annotations

import numpy as np
import pytest

from seqspan.cuts.spectral.ncut import normalised_cut
from seqspan.cuts.spectral.on_device import cut_on_device


def affinity(n, k, noise, seed):
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.integers(k, size=n))
    W = (labels[:, None] == labels) * rng.random((n, n)) + noise * rng.random((n, n))
    return (W + W.T) / 2


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("k", [2, 5, 9])
def test_labels_are_those_of_the_cut_on_the_host(k, noise, seed):
    W = affinity(80, k, noise, seed)
    np.testing.assert_array_equal(cut_on_device(W, k, rng=seed), normalised_cut(W, k, rng=seed))


@pytest.mark.parametrize("k", [1, 12])
def test_one_label_and_as_many_as_samples(k):
    W = affinity(12, 3, 0.1, 0)
    np.testing.assert_array_equal(cut_on_device(W, k, rng=0), normalised_cut(W, k, rng=0))


def test_no_label_is_left_unused():
    W = np.ones((20, 20))  # nothing to tell samples apart
    np.testing.assert_array_equal(np.unique(cut_on_device(W, 7, rng=0)), np.arange(7))
