"""The two functions between a recording and a segmentation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqspan import OSC, pipeline, segment
from seqspan._core import memory
from seqspan._core.solution import Solution
from seqspan.cuts.cutting import Cutting
from seqspan.datasets import make_recurring_subspaces, make_subspaces
from seqspan.models import Osc
from seqspan.pipeline import Method, WarmStart, as_recording, cut, represent
from seqspan.representation import Representation
from seqspan.results.cache import SolutionCache
from seqspan.solvers import SOLVERS, Stopping

BLOCKS = np.kron(np.eye(3), np.ones((6, 6)))
PAPER = Method(lambda X: Osc(0.1, 1.0))


def from_coefficients(Z: np.ndarray, X: np.ndarray | None = None) -> Representation:
    """What represent() would return for given coefficients."""
    X = np.eye(Z.shape[1]) if X is None else X
    solution = Solution(Z, 1.0, 0.0, 1, converged=True, state=None)
    return Representation(as_recording(X.T), X, X.T, np.arange(Z.shape[1]), Osc(0.1, 1.0), solution)


@pytest.mark.parametrize("solver", ["vladmap", "splitting", "fast"])
def test_represent_calls_the_named_solver_on_unit_columns(solver):
    X = np.repeat(np.eye(4), 5, axis=1) * np.arange(1, 21)
    found = represent(as_recording(X.T), Method(lambda X: Osc(0.1, 1.0), solver, stopping=Stopping(1e-3)))
    direct = SOLVERS[solver](Osc(0.1, 1.0), X / np.linalg.norm(X, axis=0), stopping=Stopping(1e-3))
    np.testing.assert_array_equal(found.Z, direct.Z)
    assert found.solution.gap == direct.gap


def test_rows_become_columns_once(monkeypatch):
    calls = []

    def columns(*given, real=pipeline._columns, **options):
        calls.append(1)
        return real(*given, **options)

    monkeypatch.setattr(pipeline, "_columns", columns)
    X, _ = make_subspaces(rng=0)
    found = cut(represent(as_recording(X.T), PAPER), Cutting("ordered"))
    found.recut(n_spans=3)
    assert (calls, found.confidence.shape) == ([1], (4,))


def test_memory_is_requested_once_per_stage(monkeypatch):
    asked = []
    for module in (pipeline,):
        monkeypatch.setattr(module, "require_memory", lambda needed, what, *_, **__: asked.append(what))
    X, _ = make_subspaces(rng=0)
    cut(represent(as_recording(X.T), PAPER), Cutting("ordered"))
    assert asked == ["Solver 'fast' on 100 samples in float64", "cut='ordered' of 100 samples in float64"]


def test_memory_that_is_not_there_is_refused_before_the_stage_begins(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda *_: 1000)
    with pytest.raises(MemoryError, match=r"'fast' on 20 samples in float64 needs .*subsample"):
        represent(as_recording(np.ones((20, 4))), PAPER)
    with pytest.raises(MemoryError, match=r"cut='ordered' of 18 samples in float64 needs .*landmarks"):
        cut(from_coefficients(BLOCKS), Cutting("ordered"))


@pytest.mark.parametrize(
    ("method", "rows"),
    [
        (PAPER, lambda X: X),
        (Method(PAPER.make_model, preprocess="centre,unit_norm"), lambda X: X - X.mean(axis=0)),
        (Method(PAPER.make_model, preprocess="centre", normalize=False), lambda X: X - X.mean(axis=0)),
        (Method(PAPER.make_model, kernel="rbf"), lambda X: X),
        (Method(PAPER.make_model, preprocess="subsample:2"), lambda X: X[::2]),
    ],
    ids=["plain", "unit last", "not scaled", "kernel", "subsampled"],
)
def test_samples_are_the_rows_before_unit_norm_and_kernel(method, rows):
    X = np.random.default_rng(0).standard_normal((24, 4)) * np.arange(1, 25)[:, None]
    found = represent(as_recording(X), method)
    np.testing.assert_allclose(found.samples, rows(X), rtol=1e-12)
    assert len(found.samples) == found.X.shape[1]
    if method.kernel == "linear":
        expected = found.samples / (np.linalg.norm(found.samples, axis=1)[:, None] if method.normalize else 1)
        np.testing.assert_allclose(found.X.T, expected, rtol=1e-12)


def test_cuts_see_how_large_samples_are():
    """All samples lie on one line, so that after scaling to unit norm nothing tells them apart."""
    rng = np.random.default_rng(0)
    sizes = np.repeat([1.0, 4.0, 2.0], 30) + 0.05 * rng.standard_normal(90)
    found = represent(as_recording(sizes[:, None] * np.array([[0.6, 0.8, 0.0]])), PAPER)
    assert cut(found, Cutting("ordered", n_spans=3)).boundaries.tolist() == [30, 60]


@pytest.mark.parametrize("name", ["ncut", "peaks"])
def test_cut_finds_blocks_and_their_number(name):
    found = cut(from_coefficients(BLOCKS), Cutting(name))
    assert found.boundaries.tolist() == [6, 12]
    assert found.labels.tolist() == [0] * 6 + [1] * 6 + [2] * 6
    assert found.n_subspaces == 3


def test_preprocessing_that_leaves_hardly_a_sample_is_refused():
    recording = as_recording(np.random.default_rng(0).standard_normal((30, 4)))
    assert represent(recording, replace(PAPER, preprocess="subsample:10")).Z.shape == (3, 3)
    with pytest.raises(ValueError, match="preprocess='subsample:15' leaves 2 of 30 samples; at least 3 are"):
        represent(recording, replace(PAPER, preprocess="subsample:15"))


def test_fewer_peaks_than_spans_that_were_asked_for_are_noted():
    given = from_coefficients(BLOCKS)
    with pytest.warns(UserWarning, match=r"5 spans were asked for.* peaks for 3 only"):
        found = cut(given, Cutting("peaks", n_spans=5))
    assert len(found.spans) == 3
    assert found.notes[0] in found.describe()["warnings"]
    assert found.recut(n_spans=3).notes == cut(given, Cutting("peaks")).notes == ()


def test_the_ordered_cut_gives_blocks_that_return_one_label():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 0], [30, 20, 25])
    X = np.eye(4)[:, labels] + 0.05 * rng.standard_normal((4, 75))
    given = from_coefficients((labels[:, None] == labels).astype(float), X)
    found = cut(given, Cutting("ordered"))
    assert found.boundaries.tolist() == [30, 50]
    assert found.labels.tolist() == labels.tolist()
    assert found.n_subspaces == 2
    assert cut(given, Cutting("ordered", n_spans=2)).boundaries.size == 1
    long = cut(given, Cutting("ordered", n_spans=2, min_length=35))
    assert np.diff([0, *long.boundaries, 75]).min() >= 35
    apart = cut(given, Cutting("ordered", n_spans=3, n_subspaces=3))
    assert apart.labels.tolist() == [0] * 30 + [1] * 20 + [2] * 25


@pytest.mark.parametrize(
    ("cutting", "message"),
    [
        (
            Cutting("ordered", n_subspaces="eigen_gap"),
            "n_subspaces must be .* or one of 'auto'; got 'eigen_gap'",
        ),
        (Cutting("peaks", n_subspaces="eigen_gap"), "or one of 'auto'; got 'eigen_gap'"),
        (Cutting("ncut", n_spans=2), "n_spans is for cut='ordered' and cut='peaks'"),
        (
            Cutting("peaks", n_subspaces=3, n_spans=2),
            "n_subspaces must equal n_spans; got n_subspaces=3 and n_spans=2",
        ),
        (Cutting("ordered", n_spans=4), "n_spans must be at most 3 for 18 samples"),
        (Cutting("ordered", 1, 2), "n_subspaces must be at least 2 for n_spans=2, .* differ in label; got 1"),
        (Cutting("ordered", grain="rough"), "grain must be one of 'coarse', 'default', 'fine'; got 'rough'"),
        (Cutting("ncut", grain="fine"), "grain is for cut='ordered'; got grain='fine' with cut='ncut'"),
        (Cutting("peaks", grain="coarse"), "grain is for cut='ordered'; got grain='coarse'"),
        (Cutting("ordered", n_spans=2, grain="fine"), "grain chooses the numbers, .* with n_spans=2 and"),
        (Cutting("ordered", 2, grain="coarse"), "grain chooses the numbers, .* n_subspaces=2"),
    ],
)
def test_what_a_cut_cannot_give_is_refused_before_solving(cutting, message, monkeypatch):
    monkeypatch.setattr(pipeline, "_solve", lambda *_: pytest.fail("solved all the same"))
    with pytest.raises(ValueError, match=message):
        represent(as_recording(np.ones((18, 4))), PAPER, cutting=cutting)
    with pytest.raises(ValueError, match=message):
        cut(from_coefficients(BLOCKS), cutting)


def test_a_cached_solution_is_not_solved_again(tmp_path, monkeypatch):
    X, _ = make_subspaces(rng=0)
    cache = SolutionCache(tmp_path)
    first = represent(as_recording(X.T), PAPER, cache=cache)
    monkeypatch.setattr(pipeline, "_solve", lambda *_: pytest.fail("solved again"))
    again = represent(as_recording(X.T), PAPER, cache=cache)
    assert (first.reused, again.reused) == (False, True)
    np.testing.assert_array_equal(again.Z, first.Z)
    with pytest.raises(pytest.fail.Exception):  # another weight is another problem
        represent(as_recording(X.T), Method(lambda X: Osc(0.1, 2.0)), cache=cache)
    with pytest.raises(pytest.fail.Exception):  # and so are other samples
        represent(as_recording(X.T[::-1]), PAPER, cache=cache)


def test_the_state_of_a_solver_is_kept_only_for_a_warm_start():
    X, _ = make_subspaces(rng=0)
    warm = WarmStart()
    assert represent(as_recording(X.T), PAPER, warm=warm).solution.state is None
    assert warm.state is not None
    assert represent(as_recording(X.T), PAPER, warm=warm).solution.n_iter == 0


def test_landmarks_are_chosen_above_the_limit_and_the_user_is_told(monkeypatch):
    monkeypatch.setattr(pipeline, "MAX_FULL_SAMPLES", 60)
    X, _ = make_recurring_subspaces((0, 1, 2, 0), 3, 12, (20, 15, 25, 20), rng=0)
    method = Method(lambda X: Osc(0.1, 1.0), dictionary="auto", n_landmarks=24)
    with pytest.warns(UserWarning, match="80 samples are represented by 24 landmarks"):
        found = represent(as_recording(X.T), method)
    assert found.Z.shape == (24, 80)
    assert found.notes[0].startswith("80 samples are represented by 24 landmarks")
    assert represent(as_recording(X.T[:60]), method).landmarks is None


def test_preprocessing_of_the_largest_floats():
    X = np.repeat([[-3.0], [3.0], [3.0]], 4, axis=0)
    X = np.hstack([X, np.random.default_rng(0).uniform(1, 3, (12, 3))]).astype(np.float32)
    largest = X * np.float32(1e38)
    method = OSC(preprocess="centre,scale").stages()[0]
    plain, scaled = (represent(as_recording(rows), method).solution for rows in (X, largest))
    assert scaled.objective == pytest.approx(plain.objective, rel=1e-5)
    # minus 3e38 is 4e38 away from the mean, which is no float32
    method = OSC(preprocess="centre", normalize=False).stages()[0]
    with pytest.raises(ValueError, match="overflowed float32"), pytest.warns(RuntimeWarning):
        represent(as_recording(largest), method)


SIZES = pytest.mark.parametrize(
    ("dtype", "scale"), [(np.float64, 1e300), (np.float64, 1e-300), (np.float32, 1e37), (np.float32, 1e-37)]
)


@SIZES
@pytest.mark.parametrize("settings", [
    {}, {"kernel": "cosine", "normalize": False}, {"kernel": "rbf", "normalize": False}, {"kernel": "rbf"},
    {"preprocess": "auto", "dtype": "float32"}, {"dtype": "float32"}, {"preprocess": "scale,pca:0.95"},
    {"dictionary": "landmarks", "n_landmarks": 12},
])  # fmt: skip
def test_samples_of_any_size_give_the_same_answer(settings, dtype, scale):
    X, _ = make_subspaces(3, 2, 8, 16, rng=4)
    method, cutting = OSC(3, **settings, cut="ordered", random_state=0, tol=1e-4).stages()
    plain, scaled = (represent(as_recording(rows), method) for rows in (X.T, (X.T * scale).astype(dtype)))
    # gaps are 1e-4, and samples in single precision are rounded
    assert scaled.solution.objective == pytest.approx(plain.solution.objective, rel=5e-4)
    np.testing.assert_array_equal(cut(scaled, cutting).labels, cut(plain, cutting).labels)


@pytest.mark.parametrize("normalize", [True, False])
def test_rbf_far_from_zero_is_the_same_in_single_and_double_precision(normalize):
    X = (np.random.default_rng(0).standard_normal((60, 5)) + 1000).astype(np.float32)
    single, double = (
        represent(as_recording(rows), OSC(kernel="rbf", normalize=normalize, tol=1e-4).stages()[0])
        for rows in (X, X.astype(float))
    )
    assert single.X.dtype == np.float32
    np.testing.assert_allclose(single.X.T @ single.X, double.X.T @ double.X, atol=1e-5)
    assert single.solution.objective == pytest.approx(double.solution.objective, rel=2e-4)


@pytest.mark.parametrize("scale", [1e120, 1e-120])
def test_cuts_of_samples_that_are_not_scaled_do_not_overflow(scale):
    X, _ = make_subspaces(3, 2, 8, 16, rng=4)
    auto = {"lambda_1": "auto", "lambda_2": "auto", "normalize": False}
    # close to the optimum, because different ways lead there
    method, cutting = OSC(**auto, cut="ordered", tol=1e-6, max_iter=20_000, random_state=0).stages()
    plain, scaled = (cut(represent(as_recording(s * X.T), method), cutting) for s in (1.0, scale))
    np.testing.assert_array_equal(scaled.boundaries, plain.boundaries)
    np.testing.assert_allclose(scaled.confidence, plain.confidence, atol=1e-3)


def test_rows_too_small_for_single_precision_are_scaled_first():
    X, _ = make_subspaces(3, 2, 8, 16, rng=4)
    sizes = np.where(np.arange(48) % 2, 1e-60, 1.0)[:, None]
    method = OSC(dtype="float32").stages()[0]
    plain, scaled = (represent(as_recording(rows), method) for rows in (X.T, sizes * X.T))
    np.testing.assert_allclose(scaled.X, plain.X, atol=1e-6)


@pytest.mark.parametrize("seed", [7, 8])
def test_constant_columns_do_not_change_what_one_or_two_others_say(seed):
    rng = np.random.default_rng(seed)
    levels = np.repeat(rng.normal(0, 2, 3)[[0, 1, 2, 0]], [80, 70, 70, 80])[:, None]
    X = levels + 0.3 * rng.standard_normal((300, 1))
    found = segment(np.hstack([X, np.ones((300, 1)), np.zeros((300, 1))])).boundaries
    assert len(found) > 1
    assert found.tolist() == pytest.approx(segment(X).boundaries, abs=1)


@pytest.mark.parametrize("value", [0.0, 0.1, -3e200])
@pytest.mark.parametrize("cutting", ["ordered", "ncut", "peaks"])
@pytest.mark.parametrize("n_samples", [3, 10, 60])
def test_a_constant_recording_is_one_span_with_a_note(n_samples, cutting, value):
    found = represent(as_recording(np.full((n_samples, 4), value)), PAPER)
    assert found.notes == ("All samples are equal, so nothing divides the recording.",)
    segmentation = cut(found, Cutting(cutting))
    assert len(segmentation.spans) == 1
    assert segmentation.n_subspaces == 1


@pytest.mark.parametrize("n_columns", [1, 2])
@pytest.mark.parametrize("steps", [(0.0, 100.0), (0.0, 100.0, 50.0)])
def test_levels_of_few_columns_are_spans_and_what_lies_between_them_is_none(n_columns, steps):
    rows = np.repeat(steps, 60)[:, None] + np.random.default_rng(0).standard_normal(
        (60 * len(steps), n_columns)
    )
    found = segment(rows)
    assert found.representation.reach > 0
    assert len(found.boundaries) == len(steps) - 1
    np.testing.assert_allclose(
        found.boundaries, 60 * np.arange(1, len(steps)), atol=found.representation.reach
    )
    assert len(found.recut(n_spans=5).spans) == 5  # a number that is asked for stays


@pytest.mark.parametrize("seed", range(6))
def test_states_of_few_columns_that_return_have_their_labels(seed):
    """Samples beside neighbours of another state make a state look new when it returns."""
    noise = np.random.default_rng(seed).standard_normal((450, 2))
    found = segment(np.repeat([[0, 0], [5, 10], [0, 0], [5, 10], [0, 0]], 90, axis=0) + noise)
    assert found.labels[45::90].tolist() == [0, 1, 0, 1, 0]
