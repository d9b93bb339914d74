"""Steps do what their formulas say, chains are recorded, and a record repeats a result from the raw file."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from tests.readers.samples import WRITERS, write_sample

from seqspan._core.scaling import scale_to_unit_norm
from seqspan.preprocess import Chain, make_chain, preprocess
from seqspan.preprocess._choice import choose_steps, low_to_mean_ratio, mean_share
from seqspan.preprocess._statistics import column_deviations
from seqspan.preprocess._steps import Centre, Delay, Pca, parse_step
from seqspan.readers import read
from seqspan.recording import FrameView, Recording

matrices = arrays(float, (8, 3), elements=st.floats(-100, 100).map(lambda value: round(value, 3)))
steps = st.sampled_from(
    ["centre", "scale", "unit_norm", "delay:3", "delay:3:2", "subsample:2", "pca:0.9", "pca:1"]
)


def recording_of(X: np.ndarray, kind: str = "table") -> Recording:
    names = tuple(f"f{number}" for number in range(X.shape[1]))
    return Recording(
        X=X,
        times=np.arange(len(X)) / 2,
        time_unit="s",
        feature_names=names,
        kind=kind,
        labels=np.arange(len(X)),
    )


@pytest.mark.parametrize("name", WRITERS)
def test_a_recorded_chain_gives_the_same_matrix_from_the_raw_file(name, tmp_path):
    path = write_sample(name, tmp_path)
    raw = read(path)
    raw_again = read(path, **json.loads(json.dumps(dict(raw.read_options))))
    for chain in ("auto", None, "centre,scale,unit_norm", "subsample:2,delay:3,pca:0.95"):
        done = preprocess(raw, chain)
        assert done.read_options == raw.read_options
        again = preprocess(raw_again, json.loads(json.dumps(list(done.steps))))
        assert np.array_equal(done.X, again.X)
        assert done.feature_names == again.feature_names
        assert len(done.feature_names) == done.X.shape[1]


@settings(deadline=None)
@given(X=matrices, names=st.lists(steps, max_size=4))
def test_any_chain_survives_its_record(X, names):
    chain = make_chain(names)
    again = make_chain(json.loads(json.dumps(chain.records())))
    assert np.array_equal(chain.apply(X), again.apply(X))
    done = preprocess(recording_of(X), names)
    assert done.X.shape == (len(done.times), len(done.feature_names))
    assert np.array_equal(done.labels, chain.rows(len(X)))  # the labels number the raw rows
    assert np.array_equal(done.times, done.labels / 2)


@settings(deadline=None)
@given(X=matrices)
def test_centre_and_scale_equal_scikit_learn(X):
    expected = StandardScaler().fit_transform(X)
    varying = X.std(axis=0) > 1e-6  # near-constant columns are rounding, which the two round differently
    got = make_chain("centre,scale").apply(X)
    assert got[:, varying] == pytest.approx(expected[:, varying], abs=1e-6)


@settings(deadline=None)
@given(X=matrices)
def test_rows_of_unit_norm_or_zero(X):
    norms = np.linalg.norm(make_chain(None).apply(X), axis=1)
    assert np.all(np.isclose(norms, 1) | (np.abs(X).max(axis=1) == 0))


def test_delay_puts_neighbours_side_by_side():
    X = np.arange(5.0)[:, None]
    got = Delay(window=3, lag=1).apply(X)
    assert got.tolist() == [[0, 0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 4]]
    assert Delay(window=3, lag=2).apply(X)[2].tolist() == [0, 2, 4]
    np.testing.assert_array_equal(make_chain("delay:1").apply(X), X)  # nothing but itself
    assert preprocess(recording_of(X), "delay:3").feature_names == ("f0[-1]", "f0[+0]", "f0[+1]")


@pytest.mark.parametrize("shape", [(40, 10), (10, 40)])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_pca_of_centred_data_equals_scikit_learn(shape, share):
    X = np.random.default_rng(0).normal(size=shape) * np.geomspace(1, 30, shape[1])
    X = X - X.mean(axis=0)
    expected = PCA(n_components=share, svd_solver="full").fit_transform(X)
    got = Pca(share).apply(X)
    assert got.shape == expected.shape
    assert np.abs(got) == pytest.approx(np.abs(expected), abs=1e-8)  # each direction up to its sign


@pytest.mark.parametrize("shape", [(40, 10), (10, 40)])
def test_pca_turns_without_shifting(shape):
    X = 7 + np.random.default_rng(1).normal(size=shape)
    got = Pca(1.0).apply(X)
    assert got @ got.T == pytest.approx(X @ X.T)
    few = Pca(0.3).apply(X)
    assert few.shape[1] < got.shape[1]
    assert few.mean(axis=0) @ few.mean(axis=0) == pytest.approx(X.mean(axis=0) @ X.mean(axis=0))


@pytest.mark.parametrize("shape", [(53, 24), (20, 24)])
def test_of_directions_with_equal_variance_pca_keeps_all_or_none(shape):
    """Otherwise the order of the columns decides which of them are kept."""
    rng = np.random.default_rng(0)
    X = np.eye(24)[rng.permutation(np.arange(shape[0]) % 24)] + 0.0
    one, other = (Pca(0.5).apply(X[:, order]) for order in (np.arange(24), rng.permutation(24)))
    np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-9)


@pytest.mark.parametrize("scale", [1.0, 1e-30])
def test_pca_leaves_at_least_one_column(scale):
    zeros = make_chain("pca:0.9").apply(np.zeros((5, 3)))
    assert zeros.shape == (5, 1)
    assert not zeros.any()
    same = make_chain("pca:0.9").apply(np.full((5, 3), scale))
    np.testing.assert_allclose(np.abs(same), np.sqrt(3) * scale)


def test_pca_of_constant_rows_keeps_their_direction():
    got = Pca(0.9).apply(np.full((5, 3), 2.0))
    assert np.linalg.norm(got, axis=1) == pytest.approx(np.sqrt(12) * np.ones(5))


SCALES = pytest.mark.parametrize(
    ("dtype", "scale"), [(np.float64, 1e300), (np.float64, 1e-300), (np.float32, 1e37), (np.float32, 1e-37)]
)
CHAINS = [
    "auto",
    None,
    "centre",
    "scale",
    "centre,scale",
    "pca:0.9",
    "centre,pca:0.95",
    "scale,delay:3,pca:0.9",
]


def _rows(n=40, d=5):
    rng = np.random.default_rng(8)
    return rng.standard_normal((n, d)) * [1, 2, 3, 0.5, 1] + [0, 3, -1, 0.2, 0]


@SCALES
@pytest.mark.parametrize("names", CHAINS)
def test_any_chain_gives_the_same_directions_at_any_scale(names, dtype, scale):
    X = _rows()
    scaled = (X * scale).astype(dtype)
    chain, same = make_chain(names, X, "table"), make_chain(names, scaled, "table")
    assert same.steps == chain.steps
    wanted, found = scale_to_unit_norm(chain.apply(X), 1), scale_to_unit_norm(same.apply(scaled), 1)
    # samples near the mean lose digits when it is subtracted
    np.testing.assert_allclose(found, wanted, atol=1e-4 if dtype == np.float32 else 1e-12)


@SCALES
def test_auto_gives_the_same_reasons_at_any_scale(dtype, scale):
    X = (np.abs(_rows()) + np.array([0, 9, 9, 9, 9])) / 1000
    for rows in (X, X - 0.005, X[:, 1:] * [1, 1, 30, 1]):
        plain, scaled = (make_chain("auto", given, "table") for given in (rows, (rows * scale).astype(dtype)))
        assert scaled.reasons == plain.reasons


def test_columns_of_very_different_units_are_all_scaled():
    X = _rows() + 20
    units = np.array([1e300, 1e-300, 1, 1e150, 1e-150])
    chain = make_chain("centre,scale")
    np.testing.assert_allclose(chain.apply(X * units), chain.apply(X), atol=1e-12)
    assert make_chain("auto", X * units, "table").steps == make_chain("centre,scale,unit_norm").steps


@pytest.mark.parametrize("value", [0.1, 1e300, -3e-300])
def test_a_constant_column_does_not_vary(value):
    X = np.column_stack([np.full(49, value), np.arange(49.0)])
    assert column_deviations(X)[0] == 0
    assert not make_chain("centre").apply(X)[:, 0].any()
    np.testing.assert_array_equal(make_chain("scale").apply(X)[:, 0], X[:, 0])


def test_means_far_from_zero_are_subtracted_in_full_in_single_precision():
    X = (_rows() + 12345.678).astype(np.float32)
    centred = make_chain("centre").apply(X)
    exact = X.astype(float) - X.astype(float).mean(axis=0)
    np.testing.assert_allclose(centred, exact, atol=1e-6)
    assert centred.dtype == np.float32


def test_pca_after_centring_keeps_no_direction_of_rounding_errors():
    X = np.random.default_rng(3).standard_normal((40, 12))
    single, double = (make_chain("centre,pca:0.95").apply(X.astype(dtype)) for dtype in ("f4", "f8"))
    assert single.shape == double.shape


def test_pca_of_many_rows_in_single_precision_is_that_of_double():
    """A mean of 20,000 rows, summed up in single precision, would be a direction of its own."""
    rows = 0.7 + 1e-4 * np.outer(np.random.default_rng(0).standard_normal(20_000), [3.0, 4.0, 0.0])
    single = rows.astype(np.float32)
    wanted = Pca(0.9).apply(single.astype(float))
    assert wanted.shape[1] == 2  # where they vary, and their mean
    np.testing.assert_allclose(np.abs(Pca(0.9).apply(single)), np.abs(wanted), atol=1e-6)


def test_the_given_rows_are_left_alone():
    X = np.random.default_rng(2).normal(size=(6, 3))
    kept = X.copy()
    make_chain("centre,scale,unit_norm,delay:3,pca:0.9,subsample:2").apply(X)
    assert np.array_equal(X, kept)


def test_pixels_become_floats_exactly_and_their_view_stays():
    pixels = np.random.default_rng(3).integers(0, 256, (6, 2, 2), dtype=np.uint8)
    raw = recording_of(pixels.reshape(6, 4), "video")
    raw = Recording(**{**vars(raw), "view": FrameView(pixels)})
    done = preprocess(raw, "subsample:2")
    assert (done.X.dtype, done.X.tolist()) == (np.float32, pixels[::2].reshape(3, 4).tolist())
    assert np.array_equal(done.view.sample(1), pixels[2])


def names_of(X: np.ndarray, kind: str | None = None) -> list[str]:
    return [step.name for step in make_chain("auto", X, kind).steps]


def test_auto_centres_readings_far_from_zero_and_scales_columns_of_different_units():
    rng = np.random.default_rng(0)
    readings = rng.normal([50.0, 40.0, 1.8], [5.0, 4.0, 0.1], (200, 3))  # degrees, degrees, bar
    chain = make_chain("auto", readings, "table")
    assert [step.name for step in chain.steps] == ["centre", "scale", "unit_norm"]
    assert "(different units)" in chain.reasons[1]
    assert names_of(readings) == [
        "centre",
        "unit_norm",
    ]  # 1.3 times the median: of one unit, for all one knows
    assert names_of(readings[:, [0, 1, 1]], "table") == ["centre", "unit_norm"]
    assert names_of(readings, "video") == names_of(readings, "spectra") == ["unit_norm"]
    assert names_of(np.abs(readings - [50.0, 40.0, 1.8])) == ["unit_norm"]  # these come near zero
    assert names_of(np.full((10, 3), 3.0), "table") == ["centre", "unit_norm"]


def test_auto_leaves_light_and_amounts_alone_and_centres_angles():
    rng = np.random.default_rng(4)
    amounts = rng.random((50, 5))
    assert names_of(amounts, "video") == names_of(amounts, "spectra") == names_of(amounts) == ["unit_norm"]
    assert names_of(amounts - 9, "video") == names_of(amounts - 9, "spectra") == ["unit_norm"]
    assert names_of(amounts - 1, "mocap") == ["centre", "unit_norm"]
    assert names_of(rng.normal(size=(50, 5)), "table") == ["unit_norm"]
    offset = rng.normal(size=(50, 5)) * [1, 1, 1, 1, 40] + [90, -90, 50, 30, 10]
    assert names_of(offset, "table") == names_of(offset, "mocap") == ["centre", "scale", "unit_norm"]


def test_auto_takes_no_notice_of_noise_around_zero():
    rng = np.random.default_rng(0)
    amounts = np.maximum(rng.normal(1.0, 1.0, (200, 4)), 0)  # many are exactly zero
    noisy = amounts + 1e-6 * rng.standard_normal(amounts.shape)
    assert noisy.min() < 0
    assert make_chain("auto", noisy, "table").reasons == make_chain("auto", amounts, "table").reasons


@pytest.mark.parametrize(
    ("n_near_zero", "wanted"), [(4, ["centre", "scale", "unit_norm"]), (6, ["unit_norm"])]
)
def test_auto_takes_zero_for_natural_if_a_quarter_of_the_columns_come_near_it(n_near_zero, wanted):
    rng = np.random.default_rng(6)
    amounts, readings = rng.uniform(0, 2, (300, n_near_zero)), rng.uniform(9.9, 10.1, (300, 20 - n_near_zero))
    assert names_of(np.hstack([amounts, readings]), "table") == wanted


@pytest.mark.parametrize(
    ("deviations", "wanted"),
    [
        ([1, 1, 1, 1, 1.4], ["centre", "unit_norm"]),
        ([1, 1, 1, 1, 1.6], ["centre", "scale", "unit_norm"]),
        ([0, 0, 0, 1, 1.4], ["centre", "unit_norm"]),  # what is constant speaks for nothing
        ([1, 1, 1, 0.01, 0.01], ["centre", "unit_norm"]),  # as wide as the median one
        ([1, 1, 0.5, 0.5, 0.5], ["centre", "scale", "unit_norm"]),
    ],
)
def test_auto_scales_where_a_column_is_half_as_wide_again_as_the_median_one(deviations, wanted):
    waves = np.sqrt(2) * np.sin(2 * np.pi * np.outer(np.arange(60) / 60, [1, 2, 3, 4, 5]))  # of deviation 1
    assert names_of(waves * deviations, "mocap") == wanted
    assert names_of(waves * deviations - 30) == wanted


def test_columns_differ_in_unit_if_one_varies_more_than_five_times_as_much():
    signs = np.tile([1.0, -1.0], 10)[:, None]
    for most, differ in ((5.0, False), (6.0, True)):
        _, reasons = choose_steps(signs * [1.0, 4.0, most] - 9, "table")
        assert reasons[1].endswith("(different units)") == differ


def test_auto_says_why_in_the_notes():
    done = preprocess(recording_of(np.random.default_rng(5).normal(size=(30, 3)), "mocap"), "auto")
    assert done.notes[0].startswith("preprocessing: centred: the zero of joint angles")
    assert done.notes[1].startswith("preprocessing: not scaled: the most variable column varies")


@pytest.mark.parametrize(
    ("given_steps", "message"),
    [
        ("whiten", r"must be one of centre, scale, .*; got 'whiten'"),
        ("pca:2", r"variance of pca must be a share in \(0, 1\]; got 2"),
        ("delay:4", "must be odd and at least 1; got 4"),
        ("delay:3:0", "lag of delay must be at least 1; got 0"),
        ("subsample:0", "stride of subsample must be at least 1; got 0"),
        ("centre:1", "centre takes at most 0 settings"),
        ("pca:much", "must be a number; got 'much'"),
        ([{"step": "pca", "share": 0.5}], "pca has no setting share"),
        ("auto", "needs X to choose the steps"),
    ],
)
def test_wrong_steps_say_what_is_needed(given_steps, message):
    with pytest.raises(ValueError, match=message):
        make_chain(given_steps)


def test_a_step_may_be_given_as_itself():
    X = np.random.default_rng(0).normal(3, 1, (10, 3))
    assert parse_step(Centre()) == Centre()
    assert make_chain(Centre()) == make_chain("centre") == make_chain([Centre()])
    np.testing.assert_allclose(make_chain(Centre()).apply(X), X - X.mean(axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("names", ["centre,scale", "centre,pca:0.9", "scale,delay:3,subsample:2", "pca:0.8"])
def test_a_learned_chain_does_the_same_to_its_own_rows_and_looks_at_no_others(names, dtype):
    rows = (5 + 3 * np.random.default_rng(0).standard_normal((40, 4))).astype(dtype)
    chain = make_chain(names)
    learned = chain.learn(rows)
    stored = Chain.from_arrays(learned.records(), learned.to_arrays())
    np.testing.assert_array_equal(stored.apply(rows), chain.apply(rows))
    # the first 21 rows know their neighbours, so rows to come cannot change the first 20
    np.testing.assert_allclose(stored.apply(rows[:21])[:10], stored.apply(rows)[:10], rtol=1e-5)


def test_new_rows_are_shifted_and_scaled_as_the_old_ones_were():
    old, new = np.array([[1.0], [3.0]]), np.array([[7.0], [9.0], [2.0]])
    np.testing.assert_allclose(make_chain("centre,scale").learn(old).apply(new), new - 2)


def test_steps_that_look_around_stop_at_joins_and_others_see_all_rows():
    """Three recordings of 4, 3 and 5 rows: of every second row, 2, 2 and 3 are left."""
    X, joins = np.arange(24.0).reshape(12, 2) ** 2, (4, 7)
    chain = make_chain("centre,subsample:2,delay:3")
    rows, kept = chain.apply(X, joins), chain.rows(12, joins)
    assert kept.tolist() == [0, 2, 4, 6, 7, 9, 11]
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(rows[:, 2:4], centred[kept])  # a sample is between its neighbours
    before, after = [0, 0, 4, 4, 7, 7, 9], [2, 2, 6, 6, 9, 11, 11]
    np.testing.assert_allclose(rows[:, :2], centred[before])
    np.testing.assert_allclose(rows[:, 4:], centred[after])


@pytest.mark.parametrize(("n_columns", "words"), [(1, "one column"), (2, "2 columns")])
def test_auto_puts_few_columns_beside_their_neighbours_and_says_so(n_columns, words):
    X = np.random.default_rng(0).standard_normal((100, n_columns))
    steps, reasons = choose_steps(X, "table")
    assert [step.name for step in steps] == ["centre", "scale", "delay", "unit_norm"]
    assert reasons == (
        f"centred and scaled: {words}",
        f"delay embedding: single samples of {words} say little, so each is put beside its neighbours, "
        "5 samples 1 apart",
        "unit norm: the models compare directions, not lengths",
    )


def test_neighbours_are_as_far_apart_as_samples_take_to_become_independent():
    """The differences of a triangular wave grow with the lag up to half its period, here with noise."""
    rng = np.random.default_rng(0)

    def lag(rows, joins=()):
        return choose_steps(rows, "table", joins)[0][2].lag

    blocks = np.repeat(rng.standard_normal(500), 6)[:, None]  # equal within 6 samples, then independent
    walk = np.cumsum(rng.standard_normal(3000))[:, None]
    assert lag(rng.standard_normal((3000, 1))) == 1
    smooth = np.convolve(rng.standard_normal(3011), np.ones(12), "valid")[:, None]  # correlated over 12
    assert lag(smooth) in range(8, 13)
    assert lag(walk) == 30  # one in a hundred samples
    assert lag(np.concatenate([smooth, 1e6 + smooth]), joins=(3000,)) == lag(
        np.concatenate([smooth, smooth]), (3000,)
    )
    assert lag(walk[:150]) == 1
    assert lag(blocks[:12]) == 1


def test_the_largest_numbers_in_turn_have_a_lag():
    largest = np.finfo(float).max
    alternating = np.tile([[largest], [-largest]], (50, 1))  # their differences overflow; warnings are errors
    assert choose_steps(alternating, "table")[0][2] == choose_steps(alternating / largest, "table")[0][2]


def test_numbers_of_settings_are_read_as_they_are_written():
    assert parse_step("delay:+3") == Delay(3)
    with pytest.raises(ValueError, match="must be odd and at least 1; got -3"):
        parse_step("delay:-3")


def test_values_just_below_zero_are_noise():
    """No more than one in ten thousand of the largest value."""
    X = np.abs(np.random.default_rng(0).standard_normal((200, 4)))
    for low, centred in ((-1e-4, False), (-1.01e-4, True)):
        rows = np.vstack([X / X.max(), np.full((1, 4), low)])
        reason = choose_steps(rows, "table")[1][0]
        assert reason.startswith("not centred: no value is clearly negative") != centred


@pytest.mark.parametrize("unit", [10.0, 1.0, 1e-2])
def test_the_unit_of_a_large_column_does_not_hide_that_others_have_signs(unit):
    rng = np.random.default_rng(0)
    pressure = 101_325 + 50 * rng.standard_normal((200, 1))  # in Pa; also in dyn/cm2 and hPa
    rows = np.hstack([rng.standard_normal((200, 4)), unit * pressure])
    assert "centre" in [step.name for step in choose_steps(rows, "table")[0]]


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3, 1e6])
def test_the_unit_of_a_column_does_not_decide_whether_a_table_is_centred(unit):
    """A column around zero, in a small unit, does not hide the offsets of the others."""
    rng = np.random.default_rng(0)
    swings, readings = rng.normal(0, unit, (200, 1)), rng.normal([300, 20], [5, 0.1], (200, 2))
    chain = make_chain("auto", np.hstack([swings, readings]), "table")
    assert [step.name for step in chain.steps] == ["centre", "scale", "unit_norm"]


def test_components_that_were_centred_before_are_left_alone():
    components = np.random.default_rng(0).standard_normal((200, 6)) * [30, 10, 3, 1, 0.3, 0.1]
    assert names_of(components - components.mean(axis=0), "table") == ["unit_norm"]


@pytest.mark.parametrize(("largest", "scaled"), [(2.1, True), (1.9, False), (100.0, True)])
def test_amounts_are_scaled_where_one_column_has_most_of_the_variance(largest, scaled):
    """Speed, engine speed and throttle; the others together vary as much as a column of 2."""
    rng = np.random.default_rng(0)
    amounts = np.abs(rng.standard_normal((300, 5)))
    amounts *= np.array([largest, 1, 1, 1, 1]) / amounts.std(axis=0)
    assert names_of(amounts, "table") == (["scale"] if scaled else []) + ["unit_norm"]
    assert names_of(amounts, "spectra") == ["unit_norm"]
    reason = make_chain("auto", amounts, "table").reasons[1]
    assert reason.startswith("scaled" if scaled else "not scaled")
    assert "the most variable column has" in reason


def test_statistics_of_single_precision_are_those_of_double():
    X = (1e4 + np.random.default_rng(0).standard_normal((20_000, 2))).astype(np.float32)
    assert mean_share(X) == pytest.approx(mean_share(X.astype(float)), abs=1e-12)


def test_without_a_positive_mean_nothing_comes_near_zero():
    assert low_to_mean_ratio(np.zeros((5, 2))) == 0


def test_one_row_does_not_vary_and_two_vary_by_half_their_distance():
    np.testing.assert_array_equal(column_deviations(np.array([[3.0, 4.0]])), [0, 0])
    np.testing.assert_allclose(column_deviations(np.array([[3.0], [5.0]])), [1])


def test_a_share_that_is_met_up_to_rounding_is_met():
    """Two directions with variances 9 and 1: the first holds nine tenths."""
    X = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    assert Pca(0.9).apply(X).shape[1] == 1
    assert Pca(np.nextafter(0.9, 1)).apply(X).shape[1] == 1
    assert Pca(0.91).apply(X).shape[1] == 2
