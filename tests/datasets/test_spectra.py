"""Mixed spectra: every span lies in the span of a few library spectra, with the paper's coefficients."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqspan.datasets.real import load_tirlib
from seqspan.datasets.spectra import make_spectra

LIBRARY = np.random.default_rng(7).random((60, 30))


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_every_span_mixes_five_library_spectra(seed):
    X, labels = make_spectra(LIBRARY, rng=seed)
    assert X.shape == (60, 100)
    assert labels.tolist() == np.repeat(np.arange(5), 20).tolist()
    for number in range(5):
        span = X[:, labels == number]
        weights = np.linalg.lstsq(LIBRARY, span, rcond=None)[0]  # 30 independent spectra: a unique answer
        assert LIBRARY @ weights == pytest.approx(span)
        assert np.count_nonzero(np.abs(weights).max(axis=1) > 1e-8) == 5


def test_coefficients_have_the_mean_and_covariance_of_the_paper():
    X, _ = make_spectra(LIBRARY, n_subspaces=1, samples_per_subspace=40_000, coefficient_mean=0.1, rng=0)
    weights = np.linalg.lstsq(LIBRARY, X, rcond=None)[0]
    used = weights[np.abs(weights).max(axis=1) > 1e-8]
    # 200,000 draws: standard errors near 1e-4 for the mean, 5e-6 for variance and covariance
    assert used.mean() == pytest.approx(0.1, abs=5e-4)
    centred = used - 0.1
    assert (centred**2).mean() == pytest.approx(0.001, abs=3e-5)
    assert (centred[:, 1:] * centred[:, :-1]).mean() == pytest.approx(0.0005, abs=3e-5)
    assert abs((centred[:, 2:] * centred[:, :-2]).mean()) < 3e-5


def test_seeds_repeat_and_differ():
    first, again, other = (make_spectra(LIBRARY, rng=seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)


@pytest.mark.data
def test_the_papers_size_from_the_mineral_library():
    X, labels = make_spectra(load_tirlib().X.T, rng=0)
    assert X.shape == (321, 100)
    assert [np.linalg.matrix_rank(X[:, labels == number]) for number in range(5)] == [5] * 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"library": np.zeros(3)}, r"library must be a finite matrix .*; got shape \(3,\)"),
        ({"spectra_per_subspace": 31}, r"must be in \[1, 30\] for 30 spectra; got 31"),
        ({"n_subspaces": 0}, "must be at least 1; got 0 and 20"),
    ],
)
def test_arguments_out_of_range(change, message):
    with pytest.raises(ValueError, match=message):
        make_spectra(**{"library": LIBRARY, **change})
