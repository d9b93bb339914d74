"""On a real GPU: device functions against their plain twins, the solver and the estimators against the CPU.

python -m pytest -m gpu tests/solvers/gpu
"""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.problems import two_subspaces
from tests.solvers.gpu.plain_device_functions import PlainDeviceFunctions

from seqspan import OSC, SpatSC
from seqspan._core.backend import require_cupy, to_host
from seqspan.cuts import ESTIMATORS, make_cutter, normalised_cut
from seqspan.datasets import make_motion, make_subspaces
from seqspan.models import Lsr, Osc, SpatSc
from seqspan.solvers import Stopping
from seqspan.solvers.fast.coarse import coarsen
from seqspan.solvers.fast.solver import solve_fast
from seqspan.solvers.gpu.device_functions import Constants, device_functions_for
from seqspan.solvers.gpu.pieces import number_steps
from seqspan.solvers.gpu.solver import halve, needed_bytes, reduce_on_device, solve_cuda
from seqspan.solvers.gpu.sweeps import Sweeps

pytestmark = pytest.mark.gpu

MODELS = [Osc(0.1, 0.7), Osc(0.1, 0.7, zero_diagonal=True), SpatSc(0.1, 0.05), SpatSc(0.1, 0.05, False)]
EVERY_MODEL = pytest.mark.parametrize("model", MODELS, ids=str)
JOINS = (9, 10, 31, 33, 64)  # a single sample; both sides of a border between pieces, and on one
EVERY_JOINS = pytest.mark.parametrize("joins", [(), JOINS], ids=["one", "several"])
PRECISIONS = [np.float32, np.float64]
EVERY_PRECISION = pytest.mark.parametrize("dtype", PRECISIONS, ids=["float32", "float64"])


@pytest.fixture
def cupy():
    return require_cupy()


def motion(n, seed=0):
    X = make_motion(n, rng=seed)[0]
    X = X - X.mean(axis=1, keepdims=True)
    return X / np.linalg.norm(X, axis=0)


def close(found, expected, dtype, condition=1.0):
    # a few hundred roundings, of numbers whose largest sets the scale; systems in time multiply them
    tolerance = (500 + condition) * np.finfo(dtype).eps * np.abs(expected).max()
    np.testing.assert_allclose(to_host(found), expected, rtol=0, atol=tolerance)


@EVERY_MODEL
@EVERY_PRECISION
@EVERY_JOINS
@pytest.mark.parametrize("shape", [(6, 75), (90, 70), (10, 333), (3, 65)], ids=str)
@pytest.mark.parametrize("penalties", [(2.0, 5.0), (0.05, 80.0)], ids=["short memory", "long memory"])
def test_device_functions_do_what_their_twins_do(model, dtype, joins, shape, penalties, cupy):
    X, n, model = two_subspaces(shape, seed=3).astype(dtype), shape[1], replace(model, joins=joins)
    plain = Sweeps(model, reduce_on_device(X.astype(float), np), PlainDeviceFunctions())
    device = Sweeps(model, reduce_on_device(cupy.asarray(X), cupy), device_functions_for(np.dtype(dtype), 0))
    a, b = plain.zero_state(*penalties), device.zero_state(*penalties)
    rng = np.random.default_rng(n)
    a.V[:, :n], a.U[:, :n] = 0.1 * rng.standard_normal((2, n, n))
    b.V[:], b.U[:] = cupy.asarray(a.V), cupy.asarray(a.U)
    plain.settle(a)
    device.settle(b)
    for measure in (False, True, False):
        expected, found = plain.iterate(a, measure=measure), device.iterate(b, measure=measure)
        if measure:
            np.testing.assert_allclose(found, expected, rtol=1e4 * np.finfo(dtype).eps)
            plain.rescale(a, 1.7, 0.6)
            device.rescale(b, 1.7, 0.6)
    condition = 1 + 4 * penalties[1] / penalties[0]
    close(b.V, a.V, dtype, condition)
    close(b.U, a.U, dtype, condition)
    close(np.array(device.certify(b)), np.array(plain.certify(a)), dtype, condition)
    close(device.coefficients(b), plain.coefficients(a), dtype, condition)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[2]], ids=str)
def test_blocks_go_through_many_tiles(model, cupy, monkeypatch):
    """Only large problems have more tiles than warps: here all the tiles of a piece are one block's."""
    monkeypatch.setattr("seqspan.solvers.gpu.device_functions.ENOUGH_BLOCKS", 1)
    X, n, dtype = two_subspaces((10, 333), seed=3), 333, np.dtype(np.float32)
    plain = Sweeps(model, reduce_on_device(X, np), PlainDeviceFunctions())
    functions = device_functions_for(dtype, 0)
    device = Sweeps(model, reduce_on_device(cupy.asarray(X, dtype=dtype), cupy), functions)
    a, b = plain.zero_state(2.0, 5.0), device.zero_state(2.0, 5.0)
    a.V[:, :n], a.U[:, :n] = 0.1 * np.random.default_rng(0).standard_normal((2, n, n))
    b.V[:], b.U[:] = cupy.asarray(a.V), cupy.asarray(a.U)
    plain.settle(a)
    device.settle(b)
    for measure in (False, True, False):
        plain.iterate(a, measure=measure)
        device.iterate(b, measure=measure)
    close(b.V, a.V, dtype, 11)
    close(b.U, a.U, dtype, 11)


@EVERY_PRECISION
@pytest.mark.parametrize("fixed", [0, 1])
@pytest.mark.parametrize("mean", [0.0, -0.5], ids=["within reach", "out of reach"])
@EVERY_JOINS
def test_multipliers_are_clipped_as_by_the_twin(dtype, fixed, mean, joins, cupy):
    rng, n, m = np.random.default_rng(fixed), 77, 96
    U, steps = rng.standard_normal((n, m)), number_steps(n, joins)
    correlations = 0.1 * rng.standard_normal((n, m)) + mean
    # out of reach, the sums are not those of the correlations either
    ahead = rng.standard_normal((1 + len(joins), m))
    if mean == 0:
        ahead = np.add.reduceat(correlations, [0, *joins], axis=0)
    c, bands = Constants(2.0, 5.0, 0.05, 1e30, fixed), (0.1, 0.11, 0.2, 1e30)
    share = rng.random(n)
    shapes = (m // 32, 4, 96), (m // 32, 2, 4)
    squares, extremes = (np.zeros(shape) for shape in shapes)
    PlainDeviceFunctions().tighten(U, correlations, share, bands, ahead, steps, squares, extremes, c)
    given = [cupy.asarray(array, dtype=dtype) for array in (U, correlations, share, ahead)]
    found = [cupy.empty(shape, dtype=dtype) for shape in shapes]
    device_functions_for(np.dtype(dtype), 0).tighten(
        *given[:3], bands, given[3], number_steps(n, joins, cupy), *found, c
    )
    close(found[0], squares, dtype)
    close(found[1][:, :, :3], extremes[:, :, :3], dtype)


@EVERY_MODEL
@EVERY_JOINS
def test_coarse_states_are_carried_over(model, joins, cupy):
    X, model = two_subspaces((6, 75), seed=1), replace(model, joins=joins)
    given = (coarsen(model), halve(X, np, joins)), (model, X)
    plain = [Sweeps(of, reduce_on_device(part, np), PlainDeviceFunctions()) for of, part in given]
    functions = device_functions_for(np.dtype(float), 0)
    device = [Sweeps(of, reduce_on_device(cupy.asarray(part), cupy), functions) for of, part in given]
    a, b = plain[0].zero_state(2.0, 5.0), device[0].zero_state(2.0, 5.0)
    for _ in range(3):
        plain[0].iterate(a)
        device[0].iterate(b)
    a, b = plain[0].prolong(a, plain[1]), device[0].prolong(b, device[1])
    close(b.V, a.V, float)
    close(b.U, a.U, float)
    close(b.share, a.share, float)


@EVERY_MODEL
@EVERY_PRECISION
def test_the_minimum_is_that_of_the_fast_solver(model, dtype, cupy):
    X = motion(1300).astype(dtype)
    expected, found = solve_fast(model, X), solve_cuda(model, X)
    assert found.gap <= 1e-2
    # each has a bound below the minimum; iterations differ, because the CPU's certificate is tighter
    rounding = 1e-4 if dtype == np.float32 else 1e-9
    assert found.objective * (1 - found.gap) <= expected.objective * (1 + rounding)
    assert expected.objective * (1 - expected.gap) <= found.objective * (1 + rounding)
    assert model.value(X.astype(float), to_host(found.Z).astype(float)) == pytest.approx(
        found.objective, rel=rounding
    )


@EVERY_MODEL
@EVERY_PRECISION
def test_several_recordings_have_the_minimum_of_the_fast_solver(model, dtype, cupy):
    X, model = motion(1300).astype(dtype), replace(model, joins=(401, 900, 901))
    expected, found = solve_fast(model, X, stopping=Stopping(1e-3)), solve_cuda(model, X)
    value = model.value(X.astype(float), to_host(found.Z).astype(float))
    assert value == pytest.approx(found.objective, rel=1e-4 if dtype == np.float32 else 1e-9)
    assert found.gap <= 1e-2
    assert found.objective * (1 - found.gap) <= expected.objective * (1 + 1e-4)
    assert found.objective <= expected.objective * (1 + 1e-2)


@pytest.mark.parametrize("model", [Osc(0.1, 0.2), SpatSc(0.1, 0.03, False)], ids=str)
@EVERY_PRECISION
@pytest.mark.parametrize("joins", [(), (401, 900, 901)], ids=["one", "several"])
def test_landmarks_have_the_minimum_of_the_fast_solver(model, dtype, joins, cupy):
    X, model = motion(5000).astype(dtype), replace(model, joins=joins)
    D = X[:, ::70]
    expected = solve_fast(model, X, dictionary=D, stopping=Stopping(1e-3))
    found = solve_cuda(model, X, dictionary=D)
    value = model.value(X.astype(float), to_host(found.Z).astype(float), D.astype(float))
    assert value == pytest.approx(found.objective, rel=1e-4 if dtype == np.float32 else 1e-9)
    assert found.Z.shape == (D.shape[1], 5000)
    assert found.gap <= 1e-2
    assert found.objective * (1 - found.gap) <= expected.objective * (1 + 1e-4)
    assert found.objective <= expected.objective * (1 + 1e-2)


def test_the_certificate_is_the_models(cupy):
    X, model = two_subspaces((6, 80), seed=0), Osc(0.1, 0.7)
    found = solve_cuda(model, X, stopping=Stopping(1e-6, 5000))
    best = solve_fast(model, X, stopping=Stopping(1e-8, 50_000))
    assert best.objective * (1 - 1e-9) <= found.objective <= best.objective * (1 + 1e-6)


def test_a_warm_start_stops_at_once(cupy):
    X = motion(700).astype(np.float32)
    first = solve_cuda(Osc(0.1, 1.0), X)
    assert solve_cuda(Osc(0.1, 1.0), X, start=first.state).n_iter == 0


def test_too_few_iterations_warn(cupy):
    with pytest.warns(UserWarning, match="max_iter"):
        solve_cuda(Osc(0.1, 1.0), motion(300), stopping=Stopping(1e-9, 5))


def test_another_model_is_refused(cupy):
    with pytest.raises(ValueError, match="Osc and SpatSc; got Lsr"):
        solve_cuda(Lsr(0.1), motion(50))


def test_memory_is_checked_before_it_is_taken(cupy):
    X = np.broadcast_to(np.ones((2, 1), np.float32), (2, 10**6))
    with pytest.raises(MemoryError, match="GiB of GPU memory"):
        solve_cuda(Osc(0.1, 1.0), X)


def test_time_has_only_so_many_pieces(cupy):
    X = np.broadcast_to(np.ones((2, 1), np.float32), (2, 3 * 10**6))
    with pytest.raises(ValueError, match="at most 2097120 samples"):
        solve_cuda(Osc(0.1, 1.0), X, dictionary=X[:, :32])


@pytest.mark.parametrize("n", [500, 3000])
def test_a_fit_takes_no_more_memory_than_it_asks_for(n, cupy):
    pool, rows = cupy.get_default_memory_pool(), motion(n).T.astype(np.float32)
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + needed_bytes(62, n, 4))
    try:
        assert OSC(device="cuda", random_state=0).fit(rows).coef_.shape == (n, n)
    finally:
        pool.set_limit(size=0)


def test_landmarks_take_no_more_memory_than_they_ask_for(cupy):
    pool, rows = cupy.get_default_memory_pool(), motion(60_000).T.astype(np.float32)
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + needed_bytes(62, 60_000, 4, 256))
    osc = OSC(device="cuda", dictionary="landmarks", n_landmarks=256, cut="ordered")
    try:
        assert osc.fit(rows).coef_.shape == (256, 60_000)
    finally:
        pool.set_limit(size=0)


def test_labels_are_those_of_the_cut_on_the_host(cupy):
    for n, k in ((200, 4), (1500, 6)):  # dense spectrum, block Krylov
        rng = np.random.default_rng(n)
        labels = np.sort(rng.integers(k, size=n))
        W = (labels[:, None] == labels) * rng.random((n, n)) + 0.01 * rng.random((n, n))
        W = W + W.T
        np.testing.assert_array_equal(normalised_cut(cupy.asarray(W), k, rng=0), normalised_cut(W, k, rng=0))


@pytest.mark.parametrize("method", ESTIMATORS)
def test_numbers_of_subspaces_are_those_found_on_the_host(method, cupy):
    Z = solve_fast(Osc(0.1, 1.0), motion(1200)).Z
    found, expected = (
        make_cutter("ncut", None, part, rng=0).cut(n_subspaces=method) for part in (cupy.asarray(Z), Z)
    )
    assert found.n_labels == expected.n_labels


@pytest.mark.parametrize("estimator", [OSC, SpatSC])
@EVERY_PRECISION
def test_numpy_in_numpy_out(estimator, dtype, cupy):
    X = make_subspaces(rng=0)[0].T.astype(dtype)
    found, expected = (estimator(5, device=device, random_state=0).fit(X) for device in ("cuda", "cpu"))
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.boundaries_, expected.boundaries_)
    assert type(found.labels_) is type(found.boundaries_) is type(found.coef_) is np.ndarray
    assert found.coef_.dtype == dtype
    assert found.dual_gap_ <= 1e-2
    # within the gap Z is not unique, but each objective is above the other's bound
    assert found.objective_ * (1 - found.dual_gap_) <= expected.objective_ * (1 + 1e-4)
    assert expected.objective_ * (1 - expected.dual_gap_) <= found.objective_ * (1 + 1e-4)


@pytest.mark.parametrize("estimator", [OSC, SpatSC])
def test_cupy_in_cupy_out(estimator, cupy):
    X = make_subspaces(rng=0)[0].T
    found = estimator(device="cuda", random_state=0).fit(cupy.asarray(X))
    expected = estimator(device="cuda", random_state=0).fit(X)
    for there, here in (
        ("labels_", expected.labels_),
        ("boundaries_", expected.boundaries_),
        ("coef_", expected.coef_),
    ):
        array = getattr(found, there)
        assert isinstance(array, cupy.ndarray)
        np.testing.assert_array_equal(array.get(), here)
    assert found.n_features_in_ == X.shape[1]


def test_other_cuts_preprocessing_paths_and_pickles(cupy):
    X = make_subspaces(rng=0)[0].T
    options = {"random_state": 0, "preprocess": ["centre"]}
    for cut in ("peaks", "ncut", "ordered"):
        found, expected = (OSC(5, cut=cut, device=device, **options).fit(X) for device in ("cuda", "cpu"))
        np.testing.assert_array_equal(found.labels_, expected.labels_)
    again = pickle.loads(pickle.dumps(OSC(5, device="cuda", random_state=0).fit(X)))
    assert type(again.coef_) is np.ndarray
    ends = [len(osc.boundaries_) for osc in OSC(5, device="cuda", random_state=0).path(X, [0.5, 1.0])]
    assert ends == [len(osc.boundaries_) for osc in OSC(5, random_state=0).path(X, [0.5, 1.0])]


def test_weights_can_be_chosen_by_the_data(cupy):
    X = make_subspaces(rng=0)[0].T
    options = {"lambda_1": "auto", "lambda_2": "auto", "cut": "ordered", "random_state": 0}
    expected = OSC(**options).fit(X)
    for rows in (X, cupy.asarray(X)):
        found = OSC(device="cuda", **options).fit(rows)
        np.testing.assert_array_equal(to_host(found.labels_), expected.labels_)
        assert (found.lambda_1_, found.lambda_2_) == pytest.approx((expected.lambda_1_, expected.lambda_2_))


@pytest.mark.parametrize("estimator", [OSC, SpatSC])
def test_landmarks_and_several_recordings_find_the_labels_of_the_cpu(estimator, cupy):
    X = make_motion(3000, rng=0)[0].T
    options = {"dictionary": "landmarks", "n_landmarks": 64, "cut": "ordered"}
    for lengths in (None, (1200, 1800)):
        expected = estimator(**options).fit(X, lengths=lengths)
        for rows in (X, cupy.asarray(X)):
            found = estimator(device="cuda", **options).fit(rows, lengths=lengths)
            assert found.dictionary_ == "landmarks"
            np.testing.assert_allclose(found.landmarks_, expected.landmarks_, rtol=1e-9, atol=1e-12)
            assert np.mean(to_host(found.labels_) == expected.labels_) > 0.99


def test_other_solvers_are_refused(cupy):
    with warnings.catch_warnings(), pytest.raises(ValueError, match="solver with device='cuda' must be"):
        OSC(solver="vladmap", device="cuda").fit(make_subspaces(rng=0)[0].T)
