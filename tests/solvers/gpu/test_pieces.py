"""Pieces of time, joined, against dense solves; plain device functions against the compiled sweeps."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.one_scale import certify_with_one_scale
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import dense_R
from tests.problems import two_subspaces
from tests.solvers.gpu.plain_device_functions import PlainDeviceFunctions, solve_pieces, spans

from seqspan._core.threads import Team
from seqspan.models import Osc, SpatSc
from seqspan.solvers.fast import coarse, reduced
from seqspan.solvers.fast import solver as fast
from seqspan.solvers.fast import sweeps as compiled
from seqspan.solvers.fast.steps import advance
from seqspan.solvers.gpu.device_functions import Constants
from seqspan.solvers.gpu.pieces import cut_into_pieces, inverse_pivots, number_steps
from seqspan.solvers.gpu.solver import halve, reduce_on_device, reduce_onto_on_device, solve_with
from seqspan.solvers.gpu.sweeps import Sweeps
from seqspan.solvers.loop import Stopping

MODELS = [Osc(0.1, 0.7), Osc(0.1, 0.7, zero_diagonal=True), SpatSc(0.1, 0.05), SpatSc(0.1, 0.05, False)]
EVERY_MODEL = pytest.mark.parametrize("model", MODELS, ids=str)
JOINS = (9, 10, 31, 33, 64)  # a single sample; both sides of a border between pieces, and on one
EVERY_JOINS = pytest.mark.parametrize("joins", [(), JOINS], ids=["one", "several"])
penalties = st.floats(1e-3, 1e3)
some_joins = st.sets(st.integers(1, 199), max_size=4)


def path(n, shift, r2, joins=()):
    R = dense_R(n, joins)
    return shift * np.eye(n) + r2 * R @ R.T


@given(n=st.integers(2, 70), shift=penalties, r2=penalties, joins=some_joins)
def test_pivots_are_those_of_a_cholesky_factor(n, shift, r2, joins):
    # T = L L^T from the first step down; a path read backwards is the same path
    joins = sorted(join for join in joins if join < n)
    factor = np.linalg.cholesky(path(n, shift, r2, joins)[::-1, ::-1])
    found = inverse_pivots(number_steps(n, joins), shift, r2)
    np.testing.assert_allclose(found[::-1], np.diag(factor) ** -2, rtol=1e-8)


@given(n=st.integers(2, 200), r1=penalties, r2=penalties, seed=st.integers(0, 9), joins=some_joins)
def test_pieces_solve_what_the_whole_does(n, r1, r2, seed, joins):
    joins = sorted(join for join in joins if join < n)
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((n, 3))
    pieces, functions = cut_into_pieces(number_steps(n, joins), r1, r2), PlainDeviceFunctions()
    ends = np.empty((3, len(spans(n)), 3))
    c = Constants(r1, r2, 0.0, 0.0, 0)
    functions.build(F / r1, np.zeros_like(F), np.ones(n), pieces, np.empty_like(F), ends, c)  # its F is F
    functions.join(ends, pieces)
    expected = np.linalg.solve(path(n, r1, r2, joins), F)
    # the condition number is up to 4e6: sums of many numbers may cancel
    np.testing.assert_allclose(solve_pieces(F, pieces, ends), expected, rtol=1e-7, atol=1e-9 / r1)
    # what the device functions multiply by instead of the coupling
    np.testing.assert_allclose(pieces.eliminate, pieces.coupling * pieces.backward)
    np.testing.assert_allclose(pieces.substitute[1:], pieces.coupling[:-1] * pieces.backward[1:])
    np.testing.assert_allclose(pieces.carry[1:], pieces.coupling[:-1] * pieces.forward[1:])
    assert pieces.substitute[0] == pieces.carry[0] == 0


@given(n=st.integers(2, 100), r1=penalties, r2=penalties)
def test_heads_are_weighted_sums(n, r1, r2):
    rng = np.random.default_rng(n)
    F = rng.standard_normal((n, 1))
    pieces, ends = cut_into_pieces(number_steps(n, ()), r1, r2), np.empty((3, len(spans(n)), 1))
    c = Constants(r1, r2, 0.0, 0.0, 0)
    PlainDeviceFunctions().build(F / r1, np.zeros_like(F), np.ones(n), pieces, np.empty_like(F), ends, c)
    sums = [pieces.weight[start:end] @ F[start:end] for start, end in spans(n)]
    np.testing.assert_allclose(ends[0], sums, rtol=1e-9, atol=1e-12 / r1)


def both(model, shape, seed, fused=False):
    """The compiled sweeps and those in plain device functions, with the same state of random numbers."""
    X = two_subspaces(shape, seed=seed)
    theirs = compiled.Sweeps(model, reduced.reduce(X, float), Team(1))
    ours = Sweeps(model, reduce_on_device(X, np), PlainDeviceFunctions(fused=fused))
    a, b = theirs.zero_state(2.0, 5.0), ours.zero_state(2.0, 5.0)
    rng = np.random.default_rng(seed)
    n = shape[1]
    b.V[:, :n], b.U[:, :n] = 0.1 * rng.standard_normal((2, n, n))
    ours.settle(b)
    for source, target in ((b.V, a.V), (b.U, a.U)):
        for block in range(theirs.n_blocks):
            part = source[:, block * theirs.width : (block + 1) * theirs.width]
            target[block, :, : part.shape[1]] = part
    theirs.settle(a)
    return theirs, a, ours, b


def joined(blocks, n):
    return np.hstack(list(blocks))[:, :n]


def assert_same(theirs, a, ours, b, rtol=1e-9):
    n = ours.n_atoms
    np.testing.assert_allclose(b.V[:, :n], joined(a.V, n), rtol=rtol, atol=1e-10)
    np.testing.assert_allclose(b.U[:, :n], joined(a.U, n), rtol=rtol, atol=1e-10)
    assert not b.V[:, n:].any()
    assert not b.U[:, n:].any()


@EVERY_MODEL
@EVERY_JOINS
@pytest.mark.parametrize("shape", [(6, 75), (90, 70)], ids=["wide", "tall"])
@pytest.mark.parametrize("fused", [False, True], ids=["apart", "fused"])
def test_iterations_are_those_of_the_compiled_sweeps(model, joins, shape, fused):
    theirs, a, ours, b = both(replace(model, joins=joins), shape, 3, fused)
    for measure in (False, True, False):
        residuals = theirs.iterate(a, measure=measure), ours.iterate(b, measure=measure)
        if measure:
            np.testing.assert_allclose(*residuals, rtol=1e-8)
            theirs.rescale(a, 1.7, 0.6)
            ours.rescale(b, 1.7, 0.6)
    assert_same(theirs, a, ours, b)
    np.testing.assert_allclose(ours.certify(b), certify_with_one_scale(theirs, a), rtol=1e-9)
    np.testing.assert_allclose(ours.coefficients(b), theirs.coefficients(a), atol=1e-10)


@EVERY_MODEL
@pytest.mark.parametrize("n", [41, 64])
def test_a_coarse_state_is_carried_over_as_by_the_compiled_sweeps(model, n):
    theirs, a, ours, b = both(model, (6, (n + 1) // 2), seed=n)
    X = two_subspaces((6, n), seed=n)
    fine = compiled.Sweeps(model, reduced.reduce(X, float), Team(1))
    expected = coarse.prolong(theirs, a, fine)
    ours_fine = Sweeps(model, reduce_on_device(X, np), PlainDeviceFunctions())
    found = ours.prolong(b, ours_fine)
    assert_same(fine, expected, ours_fine, found)
    if not ours.entrywise:  # else nothing depends on the norms
        np.testing.assert_allclose(found.norms, expected.norms, rtol=1e-9, atol=1e-12)
    assert (found.r1, found.r2) == (expected.r1, expected.r2)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[2]], ids=str)
def test_a_whole_solve_is_that_of_the_fast_solver(model, monkeypatch):
    monkeypatch.setattr(fast, "MIN_COARSE_SAMPLES", 40)
    monkeypatch.setattr("seqspan.solvers.gpu.solver.MIN_COARSE_SAMPLES", 40)
    monkeypatch.setattr(fast, "certify", certify_with_one_scale)
    monkeypatch.setattr(fast, "advance_weighted", advance)
    X = two_subspaces((6, 75), seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = fast.solve_fast(model, X, stopping=Stopping(1e-3, 60))
        found = solve_with(PlainDeviceFunctions(), model, X, Stopping(1e-3, 60))
    assert found.n_iter == expected.n_iter
    assert found.objective == pytest.approx(expected.objective, rel=1e-8)
    assert found.gap == pytest.approx(expected.gap, rel=1e-3)
    np.testing.assert_allclose(found.Z, expected.Z, atol=1e-7)


@pytest.mark.parametrize("model", [Osc(0.1, 0.2), SpatSc(0.1, 0.03, False)], ids=str)
@EVERY_JOINS
def test_a_solve_on_atoms_is_that_of_the_fast_solver(model, joins, monkeypatch):
    monkeypatch.setattr(fast, "MIN_COARSE_SAMPLES", 40)
    monkeypatch.setattr("seqspan.solvers.gpu.solver.MIN_COARSE_SAMPLES", 40)
    monkeypatch.setattr(fast, "certify", certify_with_one_scale)
    monkeypatch.setattr(fast, "advance_weighted", advance)
    X, model = two_subspaces((6, 75), seed=1, noise=0.4), replace(model, joins=joins)
    D = X[:, ::20]  # four atoms, which do not span the samples
    expected = fast.solve_fast(model, X, dictionary=D, stopping=Stopping(1e-3, 200))
    found = solve_with(PlainDeviceFunctions(), model, X, Stopping(1e-3, 200), dictionary=D)
    assert found.n_iter == expected.n_iter
    assert found.objective == pytest.approx(expected.objective, rel=1e-8)
    assert found.gap == pytest.approx(expected.gap, rel=1e-3)
    np.testing.assert_allclose(found.Z, expected.Z, atol=1e-7)


@EVERY_MODEL
def test_several_recordings_have_the_minimum_of_the_fast_solver(model, monkeypatch):
    monkeypatch.setattr("seqspan.solvers.gpu.solver.MIN_COARSE_SAMPLES", 40)
    X, model = two_subspaces((6, 75), seed=2, noise=0.4), replace(model, joins=JOINS)
    stopping = Stopping(1e-4, 20_000)
    expected = fast.solve_fast(model, X, stopping=stopping)
    found = solve_with(PlainDeviceFunctions(), model, X, stopping)
    assert found.objective == pytest.approx(expected.objective, rel=1e-4)
    assert model.value(X, found.Z) == pytest.approx(found.objective, rel=1e-9)


def test_atoms_of_pairs_in_every_recording_carry_over():
    """Recordings of odd lengths: an atom is part of the pair that its sample is part of."""
    X, model = two_subspaces((6, 41), seed=0), Osc(0.1, 0.7, joins=(5, 20))
    means, functions = halve(X, np, model.joins), PlainDeviceFunctions()
    small = Sweeps(coarse.coarsen(model), reduce_on_device(means, np), functions)
    state = small.zero_state(2.0, 5.0)
    for _ in range(5):
        small.iterate(state)
    fine = Sweeps(model, reduce_on_device(X, np), functions)
    Z, Z_coarse = fine.coefficients(small.prolong(state, fine)), small.coefficients(state)
    pairs = number_steps(41, model.joins).pair
    np.testing.assert_allclose(Z, Z_coarse[pairs][:, pairs] / 2, atol=1e-12)


def test_a_warm_start_may_come_from_other_joins():
    X, stopping, functions = two_subspaces((6, 40), seed=6), Stopping(1e-5, 20_000), PlainDeviceFunctions()
    before = solve_with(functions, Osc(0.1, 0.5, joins=(10, 20)), X, stopping)
    model = Osc(0.1, 0.5, joins=(20, 30))
    again = solve_with(functions, model, X, stopping, start=before.state)
    assert again.objective == pytest.approx(solve_with(functions, model, X, stopping).objective, rel=2e-5)


def test_a_fixed_diagonal_needs_the_samples_as_atoms():
    with pytest.raises(ValueError, match="zero_diagonal=True needs the samples as atoms"):
        solve_with(PlainDeviceFunctions(), SpatSc(0.1, 0.1), np.eye(6), Stopping(), dictionary=np.eye(6))


@pytest.mark.parametrize("n", [6, 7])
@pytest.mark.parametrize("joins", [(), (1, 4)])
def test_halving_is_that_of_the_coarse_start(n, joins):
    X = np.random.default_rng(n).standard_normal((3, n))
    np.testing.assert_allclose(halve(X, np, joins), coarse.halve(X, joins))


def test_samples_in_coordinates_of_atoms_are_those_of_the_host():
    rng = np.random.default_rng(0)
    D, X = rng.standard_normal((9, 4)), rng.standard_normal((9, 50))
    found = reduce_onto_on_device(D, X, np)
    expected = reduced.reduce_onto(D, reduced.column_blocks(X), 50, float)
    for name in ("sigma", "Q", "Y", "outside"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-12)


@pytest.mark.parametrize("shape", [(5, 30), (30, 12), (30, 30)])
def test_reduction_keeps_every_product(shape):
    X = np.random.default_rng(0).standard_normal(shape)
    X[:, 0] = X[:, 1]  # one direction fewer than samples, where those are few
    ours, theirs = reduce_on_device(X, np), reduced.reduce(X, float)
    # a direction that is not there has a singular value of some eps: one LAPACK keeps it, another does not
    found, expected = (
        np.sort(np.pad(sigma, (shape[1] - sigma.size, 0))) for sigma in (ours.sigma, theirs.sigma)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-13)
    np.testing.assert_allclose(ours.Y @ ours.Y.T, X.T @ X, atol=1e-10)
    np.testing.assert_allclose(ours.Q.T @ ours.Q, np.eye(ours.sigma.size), atol=1e-10)
    np.testing.assert_allclose(ours.Q * ours.sigma, ours.Y, atol=1e-12)
