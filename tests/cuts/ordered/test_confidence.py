"""How sure boundaries are: monotone in the evidence, near 1 for planted ones and near 0 for false ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan import OSC
from seqspan.cuts.ordered import confidence
from seqspan.cuts.ordered.confidence import EVEN_EVIDENCE, boundary_confidence, boundary_evidence
from seqspan.cuts.ordered.cost import GaussianCost, make_cost
from seqspan.datasets import add_noise, make_subspaces


def two_blocks(distance: float, seed: int = 0) -> GaussianCost:
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((60, 3))
    return GaussianCost([noise + distance * np.repeat([[0.0], [1.0]], 30, axis=0)])


def confidence_of(evidence: list[float], n_samples: int) -> np.ndarray:
    """Confidence of boundaries with the given evidence."""
    cost = GaussianCost([np.random.default_rng(0).standard_normal((n_samples, 2))])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confidence, "boundary_evidence", lambda *_: np.array(evidence))
        return boundary_confidence(cost, np.arange(1, len(evidence) + 1))


@given(
    evidence=st.lists(st.floats(-1e6, 1e12), min_size=1, max_size=20).map(sorted),
    n_samples=st.integers(4, 50),
)
def test_it_is_a_probability_and_rises_with_the_evidence(evidence, n_samples):
    found = confidence_of(evidence, n_samples)
    assert np.all((found >= 0) & (found <= 1))
    assert np.all(np.diff(found) >= 0)


@pytest.mark.parametrize("n_samples", [10, 200])
def test_it_is_one_half_at_even_evidence_and_certain_at_the_ends(n_samples):
    even = EVEN_EVIDENCE * n_samples
    found = confidence_of([-5.0, 0.0, even / 10, even, 10 * even, np.inf], n_samples)
    # 1 / (1 + 10^2.8) = 0.0016
    np.testing.assert_allclose(found, [0, 0, 0.0016, 0.5, 0.9984, 1], atol=1e-4)


def test_blocks_further_apart_are_surer():
    found = [boundary_confidence(two_blocks(distance), np.array([30]))[0] for distance in (0, 1, 2, 4, 8)]
    assert np.all(np.diff(found) >= 0)
    assert found[0] < 0.05
    assert found[-1] > 0.95


def solved(X: np.ndarray) -> GaussianCost:
    columns = X / np.linalg.norm(X, axis=0)
    return make_cost(columns, OSC(5, random_state=0).fit(X.T).coef_)


@pytest.mark.parametrize("seed", range(5))
def test_planted_boundaries_are_sure_and_false_ones_are_not(seed):
    X, labels = make_subspaces(rng=seed)
    true = np.flatnonzero(np.diff(labels)) + 1
    cost = solved(X)
    assert boundary_confidence(cost, true).min() > 0.9
    between = np.sort([*true, *(true - 10), len(labels) - 10])
    found = boundary_confidence(cost, between)
    false = ~np.isin(between, true)
    assert found[false].max() < 0.1
    assert found[~false].min() > found[false].max()


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
    cost = two_blocks(2.0)
    boundaries = np.array([1, 2, 30, 59])
    first, again = (boundary_confidence(cost, boundaries) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert boundary_confidence(cost, np.array([], dtype=int)).shape == (0,)


@given(lengths=st.lists(st.integers(1, 12), min_size=1, max_size=7), seed=st.integers(0, 999))
def test_the_evidence_for_a_boundary_is_what_its_two_spans_save(lengths, seed):
    edges = np.cumsum([0, *lengths])
    rng = np.random.default_rng(seed)
    cost = GaussianCost([rng.standard_normal((edges[-1], 4)), rng.standard_normal((edges[-1], 2))])
    found = boundary_evidence(cost, edges[1:-1])
    assert found.shape == (len(lengths) - 1,)
    for evidence, left, middle, right in zip(found, edges, edges[1:], edges[2:], strict=False):
        apart = cost.error(left, middle) + cost.error(middle, right)
        assert evidence == pytest.approx(cost.error(left, right) - apart, abs=1e-7)


def test_there_is_evidence_for_planted_boundaries_and_against_others():
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((120, 4)) + 4 * np.repeat([[0.0], [1.0], [0.0]], 40, axis=0)
    found = boundary_evidence(GaussianCost([Y / Y.std(axis=0)]), np.array([20, 40, 80, 100]))
    assert min(found[1:3]) > 0 > max(found[0], found[3])
