"""Landmarks: which are chosen, what the problem with them is, and that files need not fit into memory."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.problems import two_subspaces

from seqspan import OSC, SpatSC
from seqspan._core.scaling import scale_columns
from seqspan.cuts.spectral.affinity import SharedAffinity
from seqspan.cuts.spectral.n_subspaces import estimate_n_subspaces
from seqspan.cuts.spectral.ncut import normalised_cut
from seqspan.datasets import make_subspaces
from seqspan.metrics import clustering_error
from seqspan.models import Osc, SpatSc
from seqspan.solvers.fast.landmarks import (
    CHOICES,
    choose_landmarks,
    count_landmarks,
    farthest_first,
    on_landmarks,
)
from seqspan.solvers.fast.reduced import column_blocks, reduce_onto
from seqspan.solvers.fast.solver import solve_reduced
from seqspan.solvers.loop import Stopping


@pytest.fixture(scope="module")
def sequence():
    X, labels = make_subspaces(4, 2, 60, 30, rng=3)
    return np.ascontiguousarray(X.T), labels


@pytest.mark.parametrize("method", CHOICES)
def test_every_choice_gives_unit_atoms_of_all_subspaces(sequence, method):
    X, _ = sequence
    D = choose_landmarks(scale_columns(X.T), 24, method)
    assert D.shape == (X.shape[1], 24)
    np.testing.assert_allclose(np.linalg.norm(D, axis=0), 1, rtol=1e-6)
    unit = X.T / np.linalg.norm(X, axis=1)
    basis = np.linalg.svd(D, full_matrices=False)[0][:, :8]  # four planes
    np.testing.assert_allclose(basis @ (basis.T @ unit), unit, atol=1e-6)


def test_farthest_first_covers_better_than_regular_times(sequence):
    X, _ = sequence
    unit = X.T / np.linalg.norm(X, axis=1)

    def uncovered(D):
        return np.abs(D.T @ unit).max(axis=0).min()

    assert uncovered(farthest_first(unit, 24)) > uncovered(choose_landmarks(unit, 24, "regular"))


def test_means_of_equal_groups_are_the_full_problem_with_shared_coefficients():
    """The claim behind the weight: expanded to the samples, coefficients have the same objective."""
    rng = np.random.default_rng(0)
    X, group = rng.standard_normal((5, 24)), 4
    D = X.reshape(5, 6, group).mean(axis=2)
    Z = rng.standard_normal((6, 24))
    expanded = np.repeat(Z, group, axis=0) / group
    for model in (Osc(0.3, 0.7), SpatSc(0.3, 0.7, zero_diagonal=False)):
        few = on_landmarks(model, 6, 24)
        assert few.value(X, Z, D) == pytest.approx(model.value(X, expanded))


def test_a_diagonal_is_not_asked_for():
    assert on_landmarks(SpatSc(0.1, 0.2), 10, 100) == SpatSc(0.1, 0.2, zero_diagonal=False)
    assert on_landmarks(Osc(0.1, 0.2), 200, 100) == replace(Osc(0.1, 0.2))


def test_shared_affinity_is_the_matrix_that_it_stands_for():
    Z = np.random.default_rng(1).standard_normal((4, 9))
    A = np.abs(Z)
    W = A.T @ np.diag(1 / A.sum(axis=1)) @ A
    shared = SharedAffinity(Z)
    np.testing.assert_allclose(shared.multiply(np.eye(9)), W)
    np.testing.assert_allclose(shared.degrees(), W.sum(axis=1))
    assert len(shared) == 9
    np.testing.assert_array_equal(normalised_cut(shared, 3, rng=0), normalised_cut(W, 3, rng=0))
    assert estimate_n_subspaces(shared) == estimate_n_subspaces(W)
    scale = 1 / np.sqrt(W.sum(axis=1))
    exact = np.linalg.eigvalsh(scale[:, None] * W * scale)[::-1]
    values, vectors = shared.leading(6)
    np.testing.assert_allclose(values, exact[:6], atol=1e-12)
    np.testing.assert_allclose((scale[:, None] * W * scale) @ vectors, vectors * values, atol=1e-12)


def test_a_long_sequence_is_cut_as_its_affinity_written_out():
    """More samples than are solved densely, so that the guess is what the iteration starts from."""
    rng = np.random.default_rng(0)
    Z = np.kron(np.eye(4), np.ones((6, 300))) * rng.uniform(0.5, 1, (24, 1200)) + 0.02
    A = np.abs(Z)
    W = A.T @ np.diag(1 / A.sum(axis=1)) @ A
    np.testing.assert_array_equal(
        normalised_cut(SharedAffinity(Z), 4, rng=0), normalised_cut((W + W.T) / 2, 4, rng=0)
    )


@pytest.mark.parametrize("Estimator", [OSC, SpatSC])
def test_estimators_find_the_subspaces_by_landmarks(sequence, Estimator):
    X, labels = sequence
    estimator = Estimator(4, dictionary="landmarks", n_landmarks=40, cut="ncut", random_state=0).fit(X)
    assert estimator.coef_.shape == (40, len(X))
    assert estimator.landmarks_.shape == (40, X.shape[1])
    assert estimator.dictionary_ == "landmarks"
    assert estimator.dual_gap_ <= 0.01
    assert clustering_error(labels, estimator.labels_) <= 0.02


def test_auto_takes_landmarks_where_samples_are_many_and_says_so(sequence, monkeypatch):
    X, _ = sequence
    osc = OSC(4, dictionary="auto", n_landmarks=30, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert osc.fit(X).dictionary_ == "samples"
    monkeypatch.setattr("seqspan.pipeline.MAX_FULL_SAMPLES", 100)
    with pytest.warns(UserWarning, match="120 samples are represented by 30 landmarks"):
        assert osc.fit(X).dictionary_ == "landmarks"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what cannot is left as it is
        assert osc.set_params(solver="splitting", tol=0.1).fit(X).dictionary_ == "samples"


def test_what_does_not_go_together_is_said(sequence):
    X, _ = sequence
    with pytest.raises(ValueError, match="solver='fast'"):
        OSC(4, dictionary="landmarks", solver="vladmap").fit(X)
    with pytest.raises(ValueError, match="dictionary must be one of"):
        OSC(4, dictionary="frames").fit(X)
    with pytest.raises(ValueError, match="n_landmarks must be"):
        OSC(4, dictionary="landmarks", n_landmarks=0).fit(X)


@pytest.mark.parametrize("scale", [1e-3, 1e-5])
@pytest.mark.parametrize("lam1", [0.1, 1e-6])
def test_extreme_weights_in_single_precision_do_not_overflow(scale, lam1):
    """The first penalty shrinks with the samples, and must not leave the second one behind."""
    X = two_subspaces((6, 40), 1).astype(np.float32)
    D, factor = choose_landmarks(X, 8), np.float32(scale)
    data = reduce_onto(factor * D, column_blocks(factor * X), X.shape[1], np.float32)
    model = Osc(lam1 * scale**2, 1e10 * scale**2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the smaller lam1 needs more iterations
        solution = solve_reduced(model, data, stopping=Stopping(max_iter=300))
    assert np.abs(solution.Z).max() < 10
    assert solution.gap < 0.2


def test_long_recordings_have_fewer_landmarks(monkeypatch):
    numbers = [count_landmarks(n) for n in (1, 10_000, 50_000, 50_001, 100_000, 200_000, 10**7)]
    assert numbers == [512, 512, 512, 511, 256, 128, 128]
    assert choose_landmarks(np.random.default_rng(0).standard_normal((3, 600)), "auto").shape == (3, 512)
    monkeypatch.setattr("seqspan.solvers.fast.landmarks.MAX_COEFFICIENTS", 200 * 2000)
    X, _ = make_subspaces(4, 2, 20, 500, rng=0)
    assert OSC(4, dictionary="landmarks", tol=0.9, cut="peaks").fit(X.T).landmarks_.shape == (200, 20)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_k_means_has_as_many_threads_as_were_asked_for(n_jobs, monkeypatch):
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_info

    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"}

    fit, before, during = KMeans.fit, threads(), []
    monkeypatch.setattr(KMeans, "fit", lambda *given: (during.append(threads()), fit(*given))[1])
    choose_landmarks(np.random.default_rng(0).standard_normal((3, 600)), 5, n_jobs=n_jobs)
    assert during == [{n_jobs}]
    assert threads() == before
