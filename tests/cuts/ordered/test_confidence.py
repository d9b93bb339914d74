"""How sure boundaries are: monotone in what they save, near 1 for planted ones and near 0 for false ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan import OSC
from seqspan.cuts.ordered import confidence
from seqspan.cuts.ordered.confidence import EVEN, boundary_confidence
from seqspan.cuts.ordered.cost import Evidence
from seqspan.cuts.ordered.cut import describe
from seqspan.datasets import add_noise, make_subspaces


def two_blocks(distance: float, seed: int = 0) -> Evidence:
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((60, 3))
    return Evidence([noise + distance * np.repeat([[0.0], [1.0]], 30, axis=0)])


def sure_with(gains: list[float], n_samples: int) -> np.ndarray:
    """Confidence where boundaries save what is given."""
    evidence = Evidence([np.random.default_rng(0).standard_normal((n_samples, 2))])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confidence, "boundary_gains", lambda *_: np.array(gains))
        return boundary_confidence(evidence, np.arange(1, len(gains) + 1))


@given(
    gains=st.lists(st.floats(-1e6, 1e12), min_size=1, max_size=20).map(sorted), n_samples=st.integers(4, 50)
)
def test_it_is_a_probability_and_rises_with_what_is_saved(gains, n_samples):
    sure = sure_with(gains, n_samples)
    assert np.all((sure >= 0) & (sure <= 1))
    assert np.all(np.diff(sure) >= 0)


@pytest.mark.parametrize("n_samples", [10, 200])
def test_it_is_even_where_the_gain_is_so_and_certain_at_the_ends(n_samples):
    even = EVEN * n_samples
    sure = sure_with([-5.0, 0.0, even / 10, even, 10 * even, np.inf], n_samples)
    # 1 / (1 + 10^2.8) = 0.0016
    np.testing.assert_allclose(sure, [0, 0, 0.0016, 0.5, 0.9984, 1], atol=1e-4)


def test_blocks_further_apart_are_surer():
    sure = [boundary_confidence(two_blocks(distance), np.array([30]))[0] for distance in (0, 1, 2, 4, 8)]
    assert np.all(np.diff(sure) >= 0)
    assert sure[0] < 0.05
    assert sure[-1] > 0.95


def solved(X: np.ndarray) -> Evidence:
    columns = X / np.linalg.norm(X, axis=0)
    return describe(columns, OSC(5, random_state=0).fit(X.T).coef_)


@pytest.mark.parametrize("seed", range(5))
def test_planted_boundaries_are_sure_and_false_ones_are_not(seed):
    X, labels = make_subspaces(rng=seed)
    true = np.flatnonzero(np.diff(labels)) + 1
    evidence = solved(X)
    assert boundary_confidence(evidence, true).min() > 0.9
    between = np.sort([*true, *(true - 10), len(labels) - 10])
    sure = boundary_confidence(evidence, between)
    false = ~np.isin(between, true)
    assert sure[false].max() < 0.1
    assert sure[~false].min() > sure[false].max()


@pytest.mark.parametrize("seed", range(3))
def test_boundaries_in_pure_noise_are_not_sure(seed):
    X = np.random.default_rng(seed).standard_normal((20, 100))
    assert boundary_confidence(solved(X), np.array([20, 40, 60, 80])).max() < 0.2


def test_noise_lowers_it():
    X, labels = make_subspaces(rng=0)
    true = np.flatnonzero(np.diff(labels)) + 1
    clean, noisy = (
        boundary_confidence(solved(add_noise(X, level, rng=1)), true).mean() for level in (40, -10)
    )
    assert clean > noisy + 0.2


def test_it_repeats_itself_and_takes_no_boundary():
    evidence = two_blocks(2.0)
    boundaries = np.array([1, 2, 30, 59])
    first, again = (boundary_confidence(evidence, boundaries) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert boundary_confidence(evidence, np.array([], dtype=int)).shape == (0,)
