"""One interface to all cuts: each answers as its functions do, as often as asked."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest
from tests.problems import make_cost

from seqspan._core.spans import boundaries_from_labels
from seqspan.cuts import (
    CUTS,
    Cutter,
    cut_affinity,
    estimate_n_subspaces,
    make_cutter,
    normalised_cut,
    peak_boundaries,
)
from seqspan.cuts.ordered.confidence import boundary_confidence
from seqspan.cuts.ordered.cut import OrderedCutter
from seqspan.cuts.ordered.view_model import filling
from seqspan.cuts.peaks import PeakCutter
from seqspan.cuts.spectral.affinity import SharedAffinity, symmetric_affinity
from seqspan.cuts.spectral.ncut import NormalisedCutter
from seqspan.datasets import make_recurring_subspaces

LABELS = np.repeat([0, 1, 0, 2], [20, 15, 18, 22])


def recording(seed=0, noise=0.05):
    """Samples near three places, coefficients that know them, both with noise."""
    rng = np.random.default_rng(seed)
    X = np.eye(4)[:, LABELS] + noise * rng.standard_normal((4, len(LABELS)))
    Z = (LABELS[:, None] == LABELS) / np.bincount(LABELS)[LABELS]
    return X, Z + 0.1 * noise * rng.standard_normal(Z.shape)


class OnDevice(np.ndarray):
    """An array that says it is CuPy's."""

    fetched = 0

    def get(self):
        OnDevice.fetched += 1
        return np.asarray(self)


OnDevice.__module__ = "cupy"


@pytest.mark.parametrize(
    ("cut", "kind"), [("ncut", NormalisedCutter), ("ordered", OrderedCutter), ("peaks", PeakCutter)]
)
def test_every_cut_has_a_cutter(cut, kind):
    cutter = make_cutter(cut, *recording(), rng=0)
    assert type(cutter) is kind
    assert isinstance(cutter, Cutter)
    found = cutter.cut()
    assert found.boundaries.tolist() == [20, 35, 53]
    assert found.labels.tolist() == ([0, 1, 2, 3] if cut == "peaks" else [0, 1, 0, 2])


def test_another_name_is_refused():
    assert CUTS == ("ncut", "ordered", "peaks")
    with pytest.raises(ValueError, match="cut must be one of 'ncut', 'ordered', 'peaks'; got 'best'"):
        make_cutter("best", *recording())


@pytest.mark.parametrize("n_subspaces", ["auto", "eigen_gap", "singular_values", 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_the_normalised_cutter_labels_as_the_normalised_cut_does(n_subspaces, seed):
    X, Z = recording(seed, noise=0.5)
    W = symmetric_affinity(Z)
    k = n_subspaces if isinstance(n_subspaces, int) else estimate_n_subspaces(W, n_subspaces)
    expected = normalised_cut(W, k, rng=np.random.default_rng(seed))
    found = make_cutter("ncut", X, Z, rng=np.random.default_rng(seed)).cut(n_subspaces=n_subspaces)
    np.testing.assert_array_equal(found.sample_labels(len(LABELS)), expected)
    np.testing.assert_array_equal(found.boundaries, boundaries_from_labels(expected))


def test_every_normalised_cut_starts_from_the_same_state_and_leaves_the_generator_alone(monkeypatch):
    _, Z = recording(noise=3.0)
    rng = np.random.default_rng(0)
    cutter = NormalisedCutter(None, Z, rng=rng)
    draws = []

    def spy(W, k, *, rng, **more):
        draws.append(rng.integers(10**9))
        return normalised_cut(W, k, rng=rng, **more)

    monkeypatch.setattr("seqspan.cuts.spectral.ncut.normalised_cut", spy)
    for k in (5, 6, 5):
        cutter.cut(n_subspaces=k)
    assert rng.integers(10**9) == draws[0] == np.random.default_rng(0).integers(10**9)
    cutter.cut(n_subspaces=5)  # whoever draws from it now does not change the answer
    assert len(set(draws)) == 1


def test_the_affinity_is_computed_once(monkeypatch):
    made = []

    def count(Z):
        made.append(Z.shape)
        return symmetric_affinity(Z)

    monkeypatch.setattr("seqspan.cuts.spectral.ncut.affinity", count)
    _, Z = recording()
    cutter = NormalisedCutter(None, Z, rng=0)
    cutter.cut()
    cutter.cut(n_subspaces=2)
    np.testing.assert_array_equal(cutter.W, symmetric_affinity(Z))
    assert made == [Z.shape]


def test_landmarks_share_an_affinity():
    _, Z = recording()
    cutter = NormalisedCutter(None, Z[::3], rng=0)
    assert isinstance(cutter.W, SharedAffinity)
    assert cutter.cut(n_subspaces=3).labels.tolist() == [0, 1, 0, 2]


def test_a_number_of_spans_is_refused_by_the_normalised_cut():
    with pytest.raises(ValueError, match="n_spans is for cut='ordered' and cut='peaks'; got n_spans=3"):
        make_cutter("ncut", *recording()).cut(n_spans=3)


@pytest.mark.parametrize(
    ("given", "n_spans"),
    [
        ({}, None),
        ({"n_spans": 3}, 3),
        ({"n_subspaces": 2}, 2),
        ({"n_spans": 4, "n_subspaces": 4}, 4),
        ({"n_spans": 2, "n_subspaces": 4}, 2),  # spans take precedence
    ],
)
def test_the_peak_cutter_finds_the_peaks_that_its_function_finds(given, n_spans):
    _, Z = recording(noise=1.0)
    found = PeakCutter(None, Z).cut(**given)
    np.testing.assert_array_equal(found.boundaries, peak_boundaries(Z, n_spans))
    assert found.labels.tolist() == list(range(len(found.boundaries) + 1))


@pytest.mark.parametrize("given", [{"n_spans": "soft_gap"}, {"n_subspaces": "soft_gap"}])
def test_the_peak_cutter_refuses_words_and_more_spans_than_samples(given):
    cutter = PeakCutter(None, np.eye(6))
    with pytest.raises(ValueError, match="must be an int or 'auto' for this cut; got 'soft_gap'"):
        cutter.cut(**given)
    with pytest.raises(ValueError, match="at most 6 for 6 samples; got n_spans=7"):
        cutter.cut(n_spans=7)


def test_the_ordered_cutter_gets_its_options(monkeypatch):
    asked = {}

    def spy(X, Z, joins, **options):
        asked.update(options, joins=joins)
        return OrderedCutter(X, Z, joins, **options)

    monkeypatch.setattr("seqspan.cuts.OrderedCutter", spy)
    found = make_cutter("ordered", *recording(), min_length=17, rng=3, n_jobs=2).cut(4)
    assert asked == {"min_length": 17, "n_jobs": 2, "joins": ()}
    assert np.diff([0, *found.boundaries, len(LABELS)]).min() >= 17  # the second span of 15 has to grow
    make_cutter("ordered", *recording(), joins=(30,))
    assert asked["joins"] == (30,)


@pytest.mark.parametrize("cut", CUTS)
def test_every_cutter_tells_confidence_and_evidence(cut):
    X, Z = recording()
    cutter = make_cutter(cut, X, Z, rng=0)
    boundaries = np.array([10, 20, 35, 53])
    confidence = cutter.confidence(boundaries)
    np.testing.assert_array_equal(confidence, boundary_confidence(make_cost(X, Z).views[0], boundaries))
    assert confidence[0] < 0.5 < 0.9 < confidence[1:].min()
    tree = cutter.label_tree(boundaries)
    assert tree.evidence.shape == (5,)
    assert tree.count_labels() == 3  # three labels tell five spans apart
    assert tree.labels(3).tolist() == [0, 0, 1, 0, 2]


@pytest.mark.parametrize("cut", ["ncut", "peaks"])
def test_without_samples_there_is_no_confidence(cut):
    cutter = make_cutter(cut, None, recording()[1], rng=0)
    assert cutter.cut().boundaries.tolist() == [20, 35, 53]
    with pytest.raises(ValueError, match="needs the samples X as well as Z; got X=None"):
        cutter.confidence(np.array([20]))


def test_peaks_fetch_what_lies_on_a_gpu(monkeypatch):
    monkeypatch.setattr(OnDevice, "fetched", 0)
    X, Z = recording()
    found = make_cutter("peaks", X.view(OnDevice), Z.view(OnDevice), rng=0).cut()
    assert found.boundaries.tolist() == [20, 35, 53]
    assert type(found.boundaries) is np.ndarray
    assert OnDevice.fetched == 1


class PlainSpanCosts:
    """What `SpanCosts` does on a GPU."""

    def __init__(self, *model):
        self.model = model

    def add(self, Y, places, shortest, C):
        fill, firsts = filling(np.ascontiguousarray(Y.view(np.ndarray)), places)
        for first in firsts:
            fill((places, shortest), self.model, first, C)


def test_the_ordered_cut_stays_where_the_coefficients_lie(monkeypatch):
    """NumPy in place of CuPy, and the host's loop in place of the device function."""
    for module in ("_core.backend", "cuts.ordered.cost", "cuts.ordered.device_functions"):
        monkeypatch.setattr(f"seqspan.{module}.require_cupy", lambda: np)
    for module in ("cut", "n_spans"):
        monkeypatch.setattr(f"seqspan.cuts.ordered.{module}.device_of", lambda _: nullcontext())
    monkeypatch.setattr("seqspan.cuts.ordered.device_functions.SpanCosts", PlainSpanCosts)
    X, Z = recording()
    found = make_cutter("ordered", X.view(OnDevice), Z.view(OnDevice), rng=0).cut()
    assert found.boundaries.tolist() == [20, 35, 53]
    assert found.labels.tolist() == make_cutter("ordered", X, Z, rng=0).cut().labels.tolist()
    assert type(found.boundaries) is np.ndarray


def test_ncut_leaves_the_affinity_where_the_coefficients_lie(monkeypatch):
    monkeypatch.setattr(OnDevice, "fetched", 0)
    _, Z = recording()
    cutter = make_cutter("ncut", None, Z.view(OnDevice), rng=0)
    assert type(cutter.W) is OnDevice
    assert OnDevice.fetched == 0


def test_spans_are_merged_once_for_the_same_boundaries():
    X, Z = recording()
    cutter = make_cutter("ordered", X, Z, rng=0)
    boundaries = cutter.cut().boundaries
    assert cutter.label_tree(boundaries) is cutter.label_tree(boundaries.copy())
    assert cutter.label_tree(boundaries) is not cutter.label_tree(boundaries[:-1])


def test_importing_cuts_loads_no_solver_and_no_compiler():
    code = (
        "import sys, types\n"
        "package = types.ModuleType('seqspan')\n"
        "package.__path__ = [sys.argv[1]]\n"
        "sys.modules['seqspan'] = package\n"  # without what seqspan itself imports
        "import seqspan.cuts\n"
        "heavy = ('seqspan.solvers', 'seqspan.models', 'numba', 'sklearn', 'scipy.signal', 'scipy.special')\n"
        "print([name for name in sys.modules if name.startswith(heavy)])\n"
    )
    path = str(__import__("seqspan").__path__[0])
    answer = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert answer.stdout.strip() == "[]", answer.stderr


def test_an_affinity_of_your_own_is_cut():
    X, labels = make_recurring_subspaces((0, 1, 0), 2, 20, 15, rng=0)
    X = X / np.linalg.norm(X, axis=0)
    found = cut_affinity((X.T @ X) ** 8, rng=0)
    assert found.boundaries.tolist() == [15, 30]
    assert found.sample_labels(45).tolist() == labels.tolist()
    assert cut_affinity((X.T @ X) ** 8, 1).labels.tolist() == [0]
    with pytest.raises(ValueError, match="symmetric"):
        cut_affinity(np.triu(np.ones((5, 5))))


@pytest.mark.parametrize(("n_channels", "expected"), [(3, 8), (20, 20), (60, 32)])
def test_labels_are_found_by_as_many_features_as_there_are_channels(n_channels, expected):
    X = np.random.default_rng(0).standard_normal((n_channels, 200))
    cutter = make_cutter("ordered", X, np.eye(200))
    assert cutter.label_features.shape == (200, expected)
    assert cutter.features.shape == (200, 16)  # by which spans are found, and confidence
    n = min(expected, 16)
    np.testing.assert_allclose(cutter.label_features[:, :n], cutter.features[:, :n])


def test_spans_of_two_recordings_may_have_the_same_label_side_by_side():
    X, Z = recording()
    cutter = make_cutter("ordered", np.hstack([X[:, :20], X[:, 35:53]]), Z[:38, :38], joins=(20,))
    tree = cutter.label_tree(np.array([20]))
    assert (tree.joins, tree.fewest_apart()) == ((20,), 1)
    assert make_cutter("ordered", X[:, :38], Z[:38, :38]).label_tree(np.array([20])).fewest_apart() == 2
