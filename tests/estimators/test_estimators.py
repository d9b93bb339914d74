"""The estimators as a scikit-learn user meets them: conventions, bad input, every option."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from seqspan import LRR, LSR, OSC, SSC, Recording, SpatSC
from seqspan.cuts.ordered import cost
from seqspan.datasets import add_noise, make_recurring_subspaces, make_subspaces
from seqspan.estimators import _partial_fit, expected_failed_checks
from seqspan.estimators._checks import WITHOUT_NEIGHBOURS
from seqspan.estimators._partial_fit import REFUSED
from seqspan.metrics import SegmentationScorer, clustering_error
from seqspan.models import Osc

ESTIMATORS = [OSC, SpatSC, SSC, LRR, LSR]
EVERY = pytest.mark.parametrize("Estimator", ESTIMATORS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some checks set max_iter=1
@EVERY
def test_scikit_learn_conventions(Estimator):
    # the check of the array API is skipped unless SciPy is told of it
    expected = expected_failed_checks(Estimator())
    results = check_estimator(Estimator(), expected_failed_checks=expected, on_skip=None)
    status = {result["check_name"]: result["status"] for result in results}
    assert len(status) > 30
    failed = {name for name, each in status.items() if each != "passed"}
    assert failed <= {*expected, "check_array_api_input"}
    assert {*expected} - failed <= {*WITHOUT_NEIGHBOURS}


@pytest.fixture(scope="module")
def sequence():
    X, labels = make_subspaces(n_subspaces=3, dimension=2, ambient=20, samples_per_subspace=12, rng=7)
    return X.T, labels


@EVERY
def test_finds_the_spans_of_clean_data(Estimator, sequence):
    X, labels = sequence
    estimator = Estimator(n_subspaces=3, random_state=0).fit(X)
    assert clustering_error(labels, estimator.labels_) == 0
    assert estimator.boundaries_.tolist() == [12, 24]
    assert estimator.n_subspaces_ == 3
    assert [len(span) for span in np.split(X, estimator.boundaries_)] == [12, 12, 12]
    assert 0 <= estimator.dual_gap_ <= 0.01
    assert estimator.coef_.shape == (36, 36)
    assert estimator.history_[-1].objective == estimator.objective_


def test_no_error_without_noise_over_twenty_seeds():
    errors = []
    for seed in range(20):
        X, labels = make_subspaces(rng=seed)
        errors.append(clustering_error(labels, OSC(5, random_state=seed).fit(X.T).labels_))
    assert errors == [0.0] * 20


def test_strong_noise_over_twenty_seeds():
    """Noise of standard deviation 0.2 on unit columns, at the paper's weights."""
    errors = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, labels = make_subspaces(rng=rng)
        X = X / np.linalg.norm(X, axis=0) + 0.2 * rng.standard_normal(X.shape)
        errors.append(clustering_error(labels, OSC(5, random_state=seed).fit(X.T).labels_))
    assert np.mean(errors) < 0.02


@pytest.mark.parametrize("solver", ["vladmap", "ladmpsap", "sylvester", "splitting"])
def test_all_solvers_of_osc_lead_to_one_objective(sequence, solver):
    X, _ = sequence
    fast = OSC(3, tol=1e-4).fit(X)
    other = OSC(3, tol=1e-4, solver=solver).fit(X)
    assert other.objective_ == pytest.approx(fast.objective_, rel=2e-4)  # both within 1e-4 of the minimum


def test_the_objective_is_the_model_s_on_unit_columns(sequence):
    X, _ = sequence
    osc = OSC(3, lambda_1=0.2, lambda_2=0.5, zero_diagonal=True, tol=1e-6).fit(7 * X)
    columns = (X / np.linalg.norm(X, axis=1, keepdims=True)).T
    assert osc.objective_ == pytest.approx(Osc(0.2, 0.5, True).value(columns, osc.coef_), rel=1e-8)
    assert np.all(np.diag(osc.coef_) == 0)
    raw = OSC(3, normalize=False, tol=1e-6).fit(X)
    assert raw.objective_ == pytest.approx(Osc(0.1, 1.0).value(X.T, raw.coef_), rel=1e-8)


def test_recurring_subspaces_share_a_label():
    X, labels = make_recurring_subspaces((0, 1, 0, 2), rng=1)
    osc = OSC(random_state=0).fit(X.T)
    assert osc.n_subspaces_ == 3
    assert clustering_error(labels, osc.labels_) == 0
    assert len(osc.boundaries_) == 3


@pytest.mark.parametrize("noise", ["gaussian", "none", "outliers"])
def test_ssc_variants(sequence, noise):
    X, labels = sequence
    weights = {"lambda_1": 50.0, "lambda_2": 5.0} if noise == "outliers" else {}
    ssc = SSC(3, noise=noise, random_state=0, **weights).fit(X)
    assert clustering_error(labels, ssc.labels_) == 0
    assert ssc.dual_gap_ <= 0.01


def test_ssc_takes_a_weight_per_sample(sequence):
    X, _ = sequence
    same = SSC(3, lambda_1=np.full(36, 0.2), tol=1e-6).fit(X)
    assert same.objective_ == pytest.approx(SSC(3, lambda_1=0.2, tol=1e-6).fit(X).objective_, rel=1e-5)
    weights = np.full(36, 0.2)
    weights[5] = 10.0  # above the critical weight of unit columns
    assert np.all(SSC(3, lambda_1=weights).fit(X).coef_[:, 5] == 0)


@pytest.mark.parametrize("noise", ["gaussian", "none", "columns"])
def test_lrr_variants(sequence, noise):
    X, labels = sequence
    lrr = LRR(3, noise=noise, random_state=0).fit(X)
    assert clustering_error(labels, lrr.labels_) == 0
    assert lrr.dual_gap_ <= 0.01


def test_low_rank_osc(sequence):
    X, labels = sequence
    osc = OSC(3, penalty="nuclear", solver="splitting", random_state=0).fit(X)
    assert clustering_error(labels, osc.labels_) == 0
    with pytest.raises(ValueError, match="solver with penalty='nuclear' must be one of 'vladmap'"):
        OSC(penalty="nuclear").fit(X)
    with pytest.raises(ValueError, match="zero_diagonal"):
        OSC(penalty="nuclear", solver="splitting", zero_diagonal=True).fit(X)


def test_peaks_cut_into_spans(sequence):
    X, _ = sequence
    assert OSC(cut="peaks").fit(X).boundaries_.tolist() == [12, 24]
    two = OSC(cut="peaks", n_spans=2).fit(X)
    assert len(two.boundaries_) == 1
    assert two.n_subspaces_ == 2
    assert len(OSC(2, cut="peaks").fit(X).boundaries_) == 1


@EVERY
def test_the_ordered_cut_finds_spans_and_those_that_return(Estimator):
    X, labels = make_recurring_subspaces((0, 1, 2, 0), 3, 12, (20, 15, 25, 20), rng=2)
    told = {"cut": "ordered", "random_state": 0}
    for counts in ({}, {"n_subspaces": 3}, {"n_spans": 4}, {"n_subspaces": 3, "n_spans": 4}):
        fitted = Estimator(**counts, **told).fit(X.T)
        assert fitted.boundaries_.tolist() == [20, 35, 60]
        assert clustering_error(labels, fitted.labels_) == 0
        assert fitted.n_subspaces_ == 3
    with pytest.raises(ValueError, match="n_subspaces must be at least 2 for n_spans=3"):
        Estimator(n_subspaces=1, n_spans=3, **told).fit(X.T)


def test_spans_of_the_ordered_cut_have_their_shortest_length():
    X, _ = make_recurring_subspaces((0, 1, 2, 0), 3, 12, (20, 15, 25, 20), rng=0)
    for length in (2, 16, 24):
        osc = OSC(cut="ordered", n_spans=3, min_length=length, random_state=0).fit(X.T)
        assert np.diff([0, *osc.boundaries_, 80]).min() >= length
    assert OSC(cut="ordered", min_length=200, random_state=0).fit(X.T).boundaries_.size == 0
    assert OSC(1, cut="ordered", n_spans=1, min_length=200).fit(X.T).n_subspaces_ == 1
    shortest = OSC(cut="ordered", n_spans=80, min_length=1, random_state=0).fit(X.T)
    assert shortest.boundaries_.tolist() == list(range(1, 80))


@pytest.mark.parametrize(("n_features", "length"), [(4, 30), (8, 100), (20, 30)])
def test_told_nothing_the_ordered_cut_finds_planes_that_return(n_features, length):
    X, labels = make_recurring_subspaces([0, 1, 2, 0], 2, n_features, length, rng=1)
    osc = OSC(cut="ordered", random_state=0).fit(X.T)
    np.testing.assert_array_equal(osc.boundaries_, length * np.arange(1, 4))
    assert clustering_error(labels, osc.labels_) == 0


def test_every_cut_says_how_sure_its_boundaries_are():
    X, _ = make_subspaces(rng=0)
    osc = OSC(n_spans=7, cut="ordered", random_state=0).fit(X.T)  # two boundaries too many
    true = np.isin(osc.boundaries_, [20, 40, 60, 80])
    assert true.sum() == 4
    assert osc.confidence_.shape == osc.boundaries_.shape
    assert osc.confidence_[true].min() > 0.75
    assert osc.confidence_[~true].max() < 0.5
    again = osc.set_params(cut="ncut", n_subspaces=5, n_spans="auto").fit(X.T)
    assert again.confidence_.min() > 0.8  # for other seeds .73 to .91: tests/cuts/ordered/test_confidence.py


def test_the_ordered_cut_counts_what_preprocessing_leaves():
    X, labels = make_recurring_subspaces((0, 1, 2, 0), 3, 12, (60, 40, 50, 60), rng=0)
    osc = OSC(cut="ordered", preprocess="subsample:2", random_state=0).fit(X.T)
    assert osc.boundaries_.tolist() == [60, 100, 150]
    assert clustering_error(labels, osc.labels_) == 0
    with pytest.raises(ValueError, match="n_spans must be at most 21 for 105 samples"):
        OSC(cut="ordered", n_spans=22, preprocess="subsample:2").fit(X.T)


@pytest.mark.parametrize("dictionary", ["samples", "landmarks"])
def test_the_ordered_cut_of_any_dictionary(dictionary):
    X, labels = make_recurring_subspaces((0, 1, 2, 0), 3, 12, (20, 15, 25, 20), rng=0)
    few = {"n_landmarks": 40} if dictionary == "landmarks" else {}
    osc = OSC(cut="ordered", dictionary=dictionary, random_state=0, **few).fit(X.T)
    assert clustering_error(labels, osc.labels_) == 0


def test_published_stopping_reports_the_gap_it_stopped_at(sequence):
    X, _ = sequence
    osc = OSC(3, solver="vladmap", stopping="published", tol=1e-12).fit(X)
    assert osc.n_iter_ < 10_000
    assert 1e-12 < osc.dual_gap_ < 0.1


def test_too_few_iterations_warn_and_leave_a_result(sequence):
    X, _ = sequence
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3 .* gap of .* tol=1.0e-08 .* raise max_iter"):
        osc = OSC(3, max_iter=3, tol=1e-8).fit(X)
    assert osc.labels_.shape == (36,)
    assert osc.dual_gap_ > 1e-8


def test_warm_start_goes_on_after_a_weight_changed(sequence):
    X, _ = sequence
    osc = OSC(3, warm_start=True, tol=1e-4).fit(X)
    cold = OSC(3, lambda_2=1.05, tol=1e-4).fit(X)
    # the gap is computed anew from the state and may lie just above tol: the next look is 5 steps later
    assert osc.set_params(lambda_2=1.0).fit(X).n_iter_ <= 5 < cold.n_iter_
    warm = osc.set_params(lambda_2=1.05).fit(X)
    assert warm.n_iter_ < cold.n_iter_
    assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-4)
    assert osc.fit(X[:30]).coef_.shape == (30, 30)  # a state of another size is of no use


@pytest.mark.parametrize("solver", ["fast", "vladmap", "ladmpsap", "sylvester", "splitting"])
def test_a_warm_start_never_carries_over_a_forbidden_diagonal(sequence, solver):
    X, _ = sequence
    osc = OSC(3, warm_start=True, solver=solver, tol=3e-2).fit(X)
    osc.set_params(zero_diagonal=True).fit(X)
    assert np.all(np.diag(osc.coef_) == 0)
    lowest = OSC(3, zero_diagonal=True, tol=1e-4).fit(X)
    assert osc.objective_ >= lowest.objective_ * (1 - 1e-4)


def test_a_warm_start_survives_another_number_of_features(sequence):
    X, _ = sequence
    osc = OSC(3, warm_start=True, solver="ladmpsap").fit(X)
    assert osc.fit(X[:, :10]).dual_gap_ <= 0.01


def test_a_path_visits_every_weight_and_matches_single_fits(sequence):
    X, _ = sequence
    weights = [0.2, 0.5, 1.0]
    objectives = [osc.objective_ for osc in OSC(3, tol=1e-5).path(X, weights)]
    singles = [OSC(3, lambda_2=weight, tol=1e-5).fit(X).objective_ for weight in weights]
    assert objectives == pytest.approx(singles, rel=2e-5)


def test_callback_and_history(sequence, capsys):
    X, _ = sequence
    seen = []
    osc = OSC(3, tol=1e-5, callback=seen.append, verbose=1).fit(X)
    assert seen == osc.history_
    assert [p.iteration for p in seen] == sorted({p.iteration for p in seen})
    assert capsys.readouterr().out == ""  # progress goes to standard error


def test_preprocessing_that_drops_samples_still_labels_all(sequence):
    X, labels = sequence
    osc = OSC(3, preprocess="subsample:2", random_state=0).fit(X)
    assert osc.coef_.shape == (18, 18)
    assert clustering_error(labels, osc.labels_) == 0
    assert osc.boundaries_.tolist() == [12, 24]
    assert osc.preprocess_[0]["step"] == "subsample"


def test_preprocessing_is_recorded_anew_in_every_fit(sequence):
    X, _ = sequence
    osc = OSC(3, preprocess="centre").fit(X)
    assert [step["step"] for step in osc.preprocess_] == ["centre"]
    assert osc.set_params(preprocess=None).fit(X).preprocess_ == ()


# ---- bad input


@EVERY
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.full((10, 3), np.nan), "NaN"),
        (np.array([[np.inf, 1.0], [0.0, 1.0], [1.0, 1.0]]), "infinity"),
        (np.ones((2, 4)), "minimum of 3"),
        (np.ones(10), "Expected 2D array"),
        (np.ones((4, 3, 2)), "dim"),
        (np.ones((5, 0)), "0 feature"),
        (np.array([["a", "b"]] * 5), "convert"),
    ],
)
def test_impossible_arrays_are_refused_with_a_reason(Estimator, X, message):
    with pytest.raises(ValueError, match=message):
        Estimator().fit(X)


@EVERY
def test_sparse_matrices_are_refused(Estimator):
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        Estimator().fit(sparse.random(10, 4, density=0.5, format="csr"))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_subspaces": 37}, r"n_subspaces must be an int in \[1, 36\] for 36 samples .*; got 37"),
        ({"n_subspaces": 0}, "got 0"),
        ({"n_subspaces": 2.5}, r"got 2\.5"),
        ({"n_subspaces": "many"}, "or one of .*'auto'.*; got 'many'"),
        ({"n_spans": -1}, "n_spans must be"),
        ({"lambda_1": -0.1}, r"lambda_1 must be finite and > 0; got -0\.1"),
        ({"lambda_1": np.nan}, "lambda_1 must be finite"),
        ({"lambda_2": np.inf}, "lambda_2 must be finite"),
        ({"lambda_2": "large"}, "lambda_2 must be a number > 0; got 'large'"),
        ({"lambda_2": 0}, "lambda_2 must be finite and > 0"),
        ({"solver": "magic"}, "solver must be one of 'fast', .*; got 'magic'"),
        ({"cut": "paper"}, "cut must be one of 'ncut', 'ordered', 'peaks'; got 'paper'"),
        ({"stopping": "never"}, "stopping must be one of"),
        ({"penalty": "l0"}, "penalty must be one of"),
        ({"tol": -1.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"preprocess": "polish"}, "polish"),
        ({"n_jobs": 0}, "n_jobs must be None or an int other than 0; got 0"),
        ({"n_jobs": "all"}, "n_jobs must be"),
        ({"n_spans": 3}, "n_spans is for cut='ordered' and cut='peaks'; got n_spans=3 with cut='ncut'"),
        ({"n_spans": 37, "cut": "ordered"}, r"n_spans must be an int in \[1, 36\]"),
        (
            {"n_spans": 8, "cut": "ordered"},
            "n_spans must be at most 7 for 36 samples with min_length=5; got 8",
        ),
        ({"n_subspaces": 8, "cut": "ordered"}, "n_subspaces must be at most 7 for 36 samples .*; got 8"),
        ({"n_spans": 4, "cut": "ordered", "min_length": 10}, "n_spans must be at most 3 .* min_length=10"),
        ({"n_subspaces": 4, "cut": "ordered", "min_length": 10}, "n_subspaces must be at most 3 for"),
        ({"n_subspaces": 2, "cut": "ordered", "min_length": 99}, "n_subspaces must be at most 1 for"),
        (
            {"n_subspaces": 3, "n_spans": 2, "cut": "ordered"},
            "n_subspaces must be at most n_spans=2, .*got 3",
        ),
        ({"n_spans": "many", "cut": "ordered"}, "n_spans must be .* or one of 'auto'; got 'many'"),
        ({"min_length": 0}, "min_length must be an int in .*; got 0"),
        ({"min_length": 2.5}, r"min_length must be .*; got 2\.5"),
        ({"n_subspaces": 2, "n_spans": 3, "cut": "peaks"}, "n_subspaces=2 and n_spans=3"),
        ({"n_subspaces": 10, "preprocess": "subsample:6"}, "for 6 samples"),
    ],
)
def test_impossible_parameters_are_refused_with_a_reason(sequence, parameters, message):
    with pytest.raises(ValueError, match=message):
        OSC(**parameters).fit(sequence[0])


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (SSC(noise="loud"), "noise must be one of"),
        (SSC(lambda_1=np.ones(5)), r"one number for each of 36 samples; got shape \(5,\)"),
        (SSC(lambda_1=np.zeros(36)), "> 0 for every sample"),
        (SSC(noise="outliers", lambda_1=-1.0), "lambda_1"),
        (LRR(noise="loud"), "noise must be one of"),
        (LRR(lambda_1=0.0), "lambda_1"),
        (LSR(lambda_1=None), "lambda_1 must be a number"),
        (SpatSC(lambda_2=-1), "lambda_2"),
    ],
)
def test_impossible_parameters_of_the_rivals(sequence, estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(sequence[0])


@EVERY
@pytest.mark.parametrize(
    "transform",
    [
        lambda X: (1000 * X).astype(int),
        lambda X: X.astype(np.float16),
        lambda X: X.astype(np.float32),
        lambda X: np.asfortranarray(X),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: pd.DataFrame(X, columns=[f"channel {i}" for i in range(X.shape[1])]),
        lambda X: X.tolist(),
        lambda X: 1e150 * X,
        lambda X: 1e-150 * X,
    ],
    ids=["int", "float16", "float32", "fortran", "strided", "pandas", "list", "huge", "tiny"],
)
def test_every_usual_kind_of_array_works(Estimator, sequence, transform):
    X, labels = sequence
    estimator = Estimator(3, random_state=0).fit(transform(X))
    assert clustering_error(labels, estimator.labels_) == 0


@EVERY
def test_the_callers_array_is_neither_changed_nor_needed_writable(Estimator, sequence):
    X = sequence[0].copy()
    before = X.copy()
    X.setflags(write=False)
    Estimator(3).fit(X)
    np.testing.assert_array_equal(X, before)


@EVERY
@pytest.mark.parametrize(
    "X",
    [np.ones((6, 1)), np.zeros((6, 3)), np.ones((6, 3)), np.repeat(np.eye(3), 4, axis=0), np.eye(3)],
    ids=["one feature", "all zero", "constant", "duplicates", "three samples"],
)
@pytest.mark.parametrize("cut", ["ncut", "ordered"])
def test_degenerate_sequences_are_segmented_all_the_same(Estimator, X, cut):
    estimator = Estimator(cut=cut).fit(X)
    assert estimator.labels_.shape == (len(X),)
    assert np.all(np.isfinite(estimator.coef_))
    assert np.isfinite(estimator.objective_)


@EVERY
def test_a_zero_sample_among_others_is_no_problem(Estimator, sequence):
    X = sequence[0].copy()
    X[20] = 0
    estimator = Estimator(3, random_state=0).fit(X)
    assert np.all(np.isfinite(estimator.coef_))


@EVERY
def test_clones_and_repr(Estimator):
    estimator = Estimator(4)
    assert clone(estimator).n_subspaces == 4
    assert "n_subspaces=4" in repr(estimator)


@given(scale=st.floats(1e-6, 1e6), seed=st.integers(0, 100))
def test_osc_ignores_the_scale_of_every_sample(scale, seed):
    X, _ = make_subspaces(2, 2, 8, 6, rng=seed)
    factors = np.random.default_rng(seed).uniform(0.5, 2, size=(12, 1)) * scale
    plain, scaled = OSC(2, tol=1e-6).fit(X.T), OSC(2, tol=1e-6).fit(factors * X.T)
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-6)


def test_noise_is_what_the_benchmark_says():
    X, labels = make_subspaces(rng=0)
    noisy = add_noise(X, 10, rng=0)
    assert clustering_error(labels, OSC(random_state=0).fit(noisy.T).labels_) == 0


def test_before_it_is_fitted_there_are_no_coefficients_and_it_can_be_pickled():
    estimator = pickle.loads(pickle.dumps(OSC(4, lambda_1=0.3)))
    assert (estimator.n_subspaces, estimator.lambda_1) == (4, 0.3)
    with pytest.raises(AttributeError, match="OSC has no coef_ before it is fitted"):
        _ = estimator.coef_
    assert not hasattr(estimator, "coef_")


def test_progress_is_shown_without_a_callback_too(sequence, monkeypatch):
    seen = []
    monkeypatch.setattr("seqspan._core.display.Display.follow", lambda self, tol: seen.append)
    osc = OSC(3, verbose=1).fit(sequence[0])
    assert seen == list(osc.history_) != []


def test_the_segmentation_says_the_same_and_can_be_pickled(sequence):
    osc = OSC(3, cut="ordered", random_state=0).fit(sequence[0])
    found = pickle.loads(pickle.dumps(osc)).segmentation_
    np.testing.assert_array_equal(found.labels, osc.labels_)
    np.testing.assert_array_equal(found.boundaries, osc.boundaries_)
    np.testing.assert_array_equal(found.confidence, osc.confidence_)
    assert (found.gap, found.n_subspaces) == (osc.dual_gap_, osc.n_subspaces_)
    assert len(found.recut(n_spans=2, n_subspaces=2).spans) == 2


def test_a_recording_brings_its_kind_times_and_names(sequence):
    X = sequence[0]
    names = tuple(f"c{i}" for i in range(X.shape[1]))
    walk = Recording(X=X + 9, times=np.arange(36) / 4, time_unit="s", feature_names=names, kind="mocap")
    osc = OSC(3, preprocess="auto", cut="ordered", random_state=0).fit(walk)
    assert osc.preprocess_[0] == {"step": "centre"}  # the zero of joint angles is a convention
    assert osc.segmentation_.spans[1].start_time == 3.0
    assert osc.n_features_in_ == 20
    array = OSC(3, preprocess="auto", kind="mocap", cut="ordered", random_state=0).fit(X + 9)
    np.testing.assert_array_equal(array.labels_, osc.labels_)


# ---- every parameter works or is refused


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (OSC(zero_diagonal="False"), "zero_diagonal must be True or False; got 'False'"),
        (SpatSC(normalize=1), "normalize must be True or False; got 1"),
        (OSC(warm_start="yes"), "warm_start must be True or False"),
        (SSC(lambda_2=1.0), "lambda_2 is for noise='outliers'; got lambda_2=1.0 with 'gaussian'"),
        (
            SSC(noise="none", lambda_1=0.7),
            "noise='none' does not use lambda_1: leave it at its default 0.2; got 0.7",
        ),
        (LRR(noise="none", lambda_1=2.0), "noise='none' does not use lambda_1"),
        (
            OSC(cut="ordered", n_subspaces="eigen_gap"),
            "n_subspaces must be .* or one of 'auto'; got 'eigen_gap'",
        ),
        (OSC(cut="peaks", n_subspaces="eigen_gap"), "got 'eigen_gap'"),
        (OSC(min_length=7), "min_length is for cut='ordered'; got min_length=7 with 'ncut'"),
        (OSC(n_landmarks=40), "n_landmarks=40 needs dictionary='landmarks' or 'auto'; got 'samples'"),
        (OSC(stopping="published"), "stopping='published' needs a solver with a published rule"),
        (OSC(dtype="float16"), "dtype must be one of 'float32', 'float64'; got 'float16'"),
        (OSC(kind="film"), "kind must be one of 'video', 'mocap', 'spectra', 'table'; got 'film'"),
        (OSC(random_state="seven"), "random_state must be None, an int >= 0"),
        (OSC(random_state=-1), "random_state must be None, an int >= 0"),
    ],
    ids=lambda value: "" if isinstance(value, str) else str(value),
)
def test_nothing_is_accepted_and_ignored(sequence, estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(sequence[0])


OTHERWISE = {"n_spans": 3, "warm_start": True, "device": "cuda", "verbose": 1}


@pytest.mark.parametrize("name", OTHERWISE)
def test_a_stream_refuses_what_it_has_no_use_for(sequence, name):
    with pytest.raises(ValueError, match=f"partial_fit does not use {name}: leave it at .*; got "):
        OSC(**{name: OTHERWISE[name]}).partial_fit(sequence[0])


#: Parameters of a stream, and how each changes what it finds, what it holds or what it refuses.
USED = {
    "n_subspaces": 2, "grain": "fine", "lambda_1": 0.7, "lambda_2": 50.0, "solver": "vladmap",
    "penalty": "nuclear", "cut": "ordered", "min_length": 20, "kernel": "rbf", "zero_diagonal": True,
    "normalize": False, "preprocess": "centre", "dtype": "float32", "kind": "mocap", "tol": 1e-4,
    "stopping": "published", "max_iter": 3, "dictionary": "landmarks", "n_landmarks": 40, "time_scale": 9,
    "n_jobs": 1, "random_state": 3, "callback": print,
}  # fmt: skip


def test_a_stream_uses_or_refuses_every_parameter():
    assert set(OTHERWISE) == set(REFUSED)
    assert set(OTHERWISE) | set(USED) == set(OSC().get_params())


@pytest.mark.parametrize("name", USED)
def test_the_fit_at_the_end_of_a_stream_has_every_parameter(name):
    needs = {"penalty": {"solver": "vladmap"}, "stopping": {"solver": "vladmap"}}
    needs["n_landmarks"] = {"dictionary": "landmarks"}
    given = {"random_state": 0, name: USED[name], **needs.get(name, {})}
    stream, whole = OSC(**given)._stream_stages(), OSC(**{**given, "cut": "ordered"}).stages()
    assert replace(stream[0], make_model=None) == replace(whole[0], make_model=None)
    assert stream[1] == whole[1]
    X = np.eye(3)
    assert stream[0].make_model(X) == whole[0].make_model(X)


def test_a_stream_begins_with_the_parameters_given():
    osc = OSC(grain="fine", min_length=20, time_scale=9, n_jobs=1, preprocess="centre", kind="mocap")
    stream = osc.begin_stream()
    assert (stream._grain, stream._min_length, stream._given_scale, stream._n_jobs) == ("fine", 20, 9, 1)
    assert stream._prepare == _partial_fit.Preparation("centre", "mocap")
    assert OSC(n_subspaces=2).begin_stream().known.limit == 2


def test_a_stream_ends_with_the_fit_asked_for(sequence, monkeypatch):
    seen, real = [], _partial_fit.represent

    def represent(recording, method, **more):
        seen.append((method, more))
        return real(recording, method, **more)

    monkeypatch.setattr(_partial_fit, "represent", represent)
    OSC(solver="vladmap", tol=0.5, min_length=7, kind="mocap").partial_fit(sequence[0], last=True)
    ((method, more),) = seen
    assert (method.solver, method.stopping.tol, more["cutting"].min_length) == ("vladmap", 0.5, 7)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_n_jobs_reaches_the_cut(Estimator, sequence, monkeypatch):
    seen = []
    real = cost.Team
    monkeypatch.setattr(cost, "Team", lambda n_jobs, **more: seen.append(n_jobs) or real(n_jobs, **more))
    Estimator(cut="ordered", n_spans=3, n_jobs=2).fit(sequence[0])
    assert set(seen) == {2}


def test_dtype_is_the_precision_of_the_solution(sequence):
    X, _ = sequence
    assert OSC(3).fit(X).coef_.dtype == np.float64
    assert OSC(3).fit(X.astype(np.float32)).coef_.dtype == np.float32
    assert OSC(3, dtype="float32").fit(X).coef_.dtype == np.float32
    assert LRR(3, dtype="float64").fit(X.astype(np.float32)).coef_.dtype == np.float64


@pytest.mark.parametrize("Estimator", [OSC, SpatSC])
def test_atoms_of_your_own_represent_the_samples(Estimator, sequence):
    X, labels = sequence
    atoms = X[::3].copy()
    estimator = Estimator(3, dictionary=atoms, random_state=0).fit(X)
    assert clustering_error(labels, estimator.labels_) == 0
    assert estimator.dictionary_ == "given"
    assert estimator.coef_.shape == (12, 36)
    np.testing.assert_allclose(estimator.landmarks_, atoms / np.linalg.norm(atoms, axis=1, keepdims=True))
    np.testing.assert_array_equal(atoms, X[::3])  # not changed
    as_lists = clone(estimator).set_params(dictionary=atoms.tolist()).fit(X)
    assert as_lists.objective_ == pytest.approx(estimator.objective_)


def test_given_atoms_are_checked(sequence):
    X, _ = sequence
    with pytest.raises(ValueError, match=r"atoms as rows with 20 features, .*; got shape \(5, 3\)"):
        OSC(3, dictionary=np.ones((5, 3))).fit(X)
    with pytest.raises(ValueError, match="dictionary=array needs preprocess=None"):
        OSC(3, dictionary=X, preprocess="centre").fit(X)
    with pytest.raises(ValueError, match="dictionary=array is for OSC with penalty='l1'"):
        OSC(3, dictionary=X, solver="vladmap").fit(X)
    with pytest.raises(
        ValueError, match="n_landmarks=7 needs dictionary='landmarks' or 'auto'; got 'an array'"
    ):
        OSC(3, dictionary=X, n_landmarks=7).fit(X)


@pytest.mark.parametrize("metric", ["accuracy", "covering", "boundary_f1"])
def test_a_grid_search_finds_the_number_of_labels(sequence, metric):
    X, labels = sequence
    rows = np.arange(len(X))
    search = GridSearchCV(
        OSC(random_state=0), {"n_subspaces": [2, 3]}, scoring=SegmentationScorer(metric), cv=[(rows, rows)]
    )
    search.fit(X, labels)
    assert search.best_params_ == {"n_subspaces": 3}
    assert search.best_score_ == 1


def test_held_out_blocks_are_segmented_on_their_own():
    X, labels = make_recurring_subspaces((0, 1) * 4, 2, 20, 15, rng=0)
    pipeline = make_pipeline(StandardScaler(with_mean=False), OSC(random_state=0))
    search = GridSearchCV(pipeline, {"osc__n_subspaces": [1, 2]}, scoring=SegmentationScorer(), cv=KFold(2))
    search.fit(X.T, labels)
    assert search.best_params_ == {"osc__n_subspaces": 2}
    assert search.best_score_ == 1
    scores = cross_val_score(LSR(2, random_state=0), X.T, labels, cv=KFold(2), scoring=SegmentationScorer())
    assert scores.tolist() == [1, 1]
    with pytest.raises(ValueError, match="A score needs the true labels"):
        SegmentationScorer()(OSC(2).fit(X.T), X.T)


def test_the_largest_floats_of_both_signs_are_taken_without_a_warning():
    X = make_subspaces(3, 2, 8, 16, rng=4)[0].T.astype(np.float32)
    largest = X / np.abs(X).max() * np.finfo(np.float32).max
    np.testing.assert_array_equal(
        OSC(3, random_state=0).fit(largest).labels_, OSC(3, random_state=0).fit(X).labels_
    )
