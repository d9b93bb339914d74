"""Known labels in new samples: against brute force, and what they must not depend on."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from seqspan._core.spans import Division
from seqspan.cuts import states as module
from seqspan.cuts.coordinates import FAR, Coordinates
from seqspan.cuts.ordered.features import measure_noise
from seqspan.cuts.ordered.labels import FIXED_CORRELATION, effective_share
from seqspan.cuts.states import States, _describe

MEANS = {0: (4, 0, 0, 0), 1: (0, 4, 0, 0), 2: (0, 0, 4, 0), 9: (0, 0, 0, 4)}


def draw(order, length=40, seed=0, extra=0):
    """Samples around the means of some labels in turn, and their division."""
    rng = np.random.default_rng(seed)
    spans = [rng.normal(MEANS[label], 0.5, (length, 4)) for label in order]
    X = np.concatenate(spans).T
    X = np.vstack([X, 0.01 * rng.standard_normal((extra, X.shape[1]))])
    return X, Division(length * np.arange(1, len(order)), np.array(order))


@pytest.mark.parametrize("extra", [0, 100])  # with 104 features, samples are reduced
def test_known_labels_return_and_others_are_unknown(extra):
    X, division = draw([0, 1, 0, 2, 1], extra=extra)
    states = States.learn(X, division, 5)
    assert states.agreement == 1
    np.testing.assert_array_equal(states.assign(X), division.sample_labels(200))
    new, truth = draw([2, 9, 0], seed=1, extra=extra)
    wanted = np.where(truth.sample_labels(120) == 9, -1, truth.sample_labels(120))
    assert np.mean(states.assign(new) == wanted) >= 0.98
    scores = states.score(new)
    assert scores[wanted >= 0].min() > 0 > np.median(scores[wanted < 0])


def test_labels_keep_their_numbers():
    X, division = draw([2, 9, 2])
    assert set(States.learn(X, division).assign(X).tolist()) == {2, 9}


@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("extra", [0, 100])
def test_units_do_not_matter(scale, extra):
    X, division = draw([0, 1, 0], extra=extra)
    new, _ = draw([1, 9, 0], seed=1, extra=extra)
    wanted = States.learn(X, division).assign(new)
    np.testing.assert_array_equal(States.learn(scale * X, division).assign(scale * new), wanted)


def test_one_label_alone_is_recognised():
    X, division = draw([0])
    states = States.learn(X, division)
    assert states.agreement == 1
    assert np.mean(states.assign(draw([9])[0]) == -1) == 1


@pytest.mark.parametrize("extra", [0, 100])
def test_arrays_hold_everything(extra):
    X, division = draw([0, 1, 0], extra=extra)
    states = States.learn(X, division, 5)
    again = States.from_arrays(states.to_arrays())
    np.testing.assert_array_equal(again.score(X), states.score(X))
    np.testing.assert_array_equal(again.assign(X), states.assign(X))
    assert (again.price, again.shortest, again.agreement) == (states.price, states.shortest, states.agreement)


def test_blocks_change_nothing(monkeypatch):
    X, division = draw([0, 1, 0])
    wanted = States.learn(X, division).score(X)
    monkeypatch.setattr(module, "BLOCK", 7)
    np.testing.assert_allclose(States.learn(X, division).score(X), wanted, rtol=1e-8)


def peak_memory(function):
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_what_samples_cost_under_many_labels_is_never_held_at_once(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 512)
    monkeypatch.setattr("seqspan.cuts.ordered.cost.CACHED_ROWS", 512)
    rng, n_labels, length = np.random.default_rng(0), 100, 200
    X = np.repeat(rng.normal(0, 4, (4, n_labels)), length, axis=1)
    X += rng.normal(0, 0.5, X.shape)
    boundaries, labels = length * np.arange(1, n_labels), np.arange(n_labels)
    few, many = Division(boundaries, labels % 2), Division(boundaries, labels)
    states = {name: States.learn(X, division) for name, division in (("few", few), ("many", many))}
    everything = 8 * X.shape[1] * (n_labels - 2)  # bytes: what all samples cost under the other labels

    def more(function):
        """Bytes that many labels take more than few."""
        taken = [peak_memory(lambda name=name: function(name)) for name in ("many", "few")]
        return taken[0] - taken[1]

    assert more(lambda name: States.learn(X, {"few": few, "many": many}[name])) < everything / 2
    assert more(lambda name: states[name].assign(X)) < everything / 2
    assert more(lambda name: states[name].score(X)) < everything / 2


def test_noise_in_coordinates_is_that_of_all_of_them(monkeypatch):
    X = draw([0, 1, 0])[0]
    coordinates = Coordinates.fit(X)
    wanted = measure_noise(coordinates(X))
    for block in (7, 1000):
        monkeypatch.setattr(module, "BLOCK", block)
        assert module._measure_noise(coordinates, X) == wanted


def test_some_of_many_samples_teach_the_same(monkeypatch):
    X, division = draw([0, 1, 0, 2], length=150)
    monkeypatch.setattr(module, "MAX_SAMPLES", 200)
    states = States.learn(X, division)
    assert states.agreement > 0.99
    assert np.mean(states.assign(draw([9], seed=1)[0]) == -1) > 0.9


def test_noise_is_that_between_neighbours_also_if_some_are_left_out(monkeypatch):
    time = np.arange(600)
    X, division = np.stack([np.sin(time / 5), np.cos(time / 7)]), Division(np.array([300]), np.array([0, 1]))
    levels = []
    for most in (600, 200):
        monkeypatch.setattr(module, "MAX_SAMPLES", most)
        features = States.learn(X, division).features
        levels.append(features.noise * 4.0**features.exponent)
    assert levels[0] == pytest.approx(levels[1])


def test_the_price_of_a_span_is_raised_until_there_are_no_more_spans_than_were_found():
    X, _ = draw([0, 1, 0, 1, 0])
    X = np.delete(X, np.arange(123, 160), axis=1)  # 3 samples are left of the fourth span
    found = Division(np.array([40, 80]), np.array([0, 1, 0]))  # and the cut had reasons to pass over them
    states = States.learn(X, found)
    np.testing.assert_array_equal(states.assign(X), found.sample_labels(163))
    assert len(np.flatnonzero(np.diff(replace(states, price=states.price / 4).assign(X)))) == 4


def test_a_single_sample_has_a_label():
    X, division = draw([0, 1, 0])
    states = States.learn(X, division, 5)
    assert states.assign(X[:, 50:51]).tolist() == [1]


def test_samples_further_away_than_any_before_cost_labels_the_square_of_how_far():
    X = np.random.default_rng(0).normal(0, 1, (3, 60))
    states = States.learn(X, Division(np.array([30]), np.array([0, 1])))
    least, deviation = states.nearness
    far = 40 * X[:, :1]
    nearness = _describe(states.features, states.coordinates(far))[1][0]
    without = replace(states, nearness=(-1e9, deviation))
    np.testing.assert_allclose(
        without.score(far) - states.score(far), (least - nearness) ** 2 / (2 * deviation**2)
    )
    np.testing.assert_allclose(without.score(X), states.score(X))
    constant = States.learn(np.ones((3, 60)), Division(np.array([], dtype=np.intp), np.array([0])))
    assert constant.score(2 * np.ones((3, 1))) < -1e5
    assert constant.score(1e300 * np.ones((3, 1))) > -1e7  # sums keep the digits of what follows


def test_what_one_sample_says_is_limited_if_its_neighbours_hold_it_too():
    X = np.repeat([0.0, 10.0, 0.0], [30, 30, 30]) + np.random.default_rng(0).normal(0, 1, (2, 90))
    division = Division(np.array([30, 60]), np.array([0, 1, 0]))
    free, held = (States.learn(X, division, reach=reach) for reach in (0, 2))
    costs, limited = free.describe(X)[1], held.describe(X)[1]
    share = held.price / 5  # five samples hold each of the rows
    above = costs - costs.min(axis=0)
    assert (above > share).any()
    np.testing.assert_allclose(limited - costs.min(axis=0), np.minimum(above, share), atol=1e-2 * share)
    np.testing.assert_allclose(held.score(X), free.score(X))
    again = States.from_arrays(held.to_arrays())
    assert again.reach == 2
    np.testing.assert_array_equal(again.assign(X), held.assign(X))
    older = {name: values for name, values in held.to_arrays().items() if name != "reach"}
    assert States.from_arrays(older).reach == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [("reach", -1), ("price", -1.0), ("shortest", 0), ("exponent", 5000), ("price", np.nan)],
)
def test_arrays_that_cannot_have_been_learned_are_refused(name, value):
    arrays = States.learn(*draw([0, 1])).to_arrays()
    with pytest.raises(ValueError, match="do not describe labels"):
        States.from_arrays(arrays | {name: np.asarray(value)})


def test_single_precision_is_scored_in_double():
    X, division = draw([0, 1])
    states = States.learn(X, division)
    np.testing.assert_allclose(states.score(X.astype(np.float32)), states.score(X), atol=1e-4)
    assert states.coordinates(X.astype(np.float32)).dtype == np.float64


def test_samples_that_are_not_numbers_or_too_large_are_far_away():
    X, division = draw([0, 1])
    states = States.learn(X, division)
    for strange in (np.nan, np.inf, -np.inf, 1e308):
        coordinates = states.coordinates(np.full((4, 1), strange))
        assert np.all(np.abs(coordinates) == FAR)
        assert states.score(np.full((4, 1), strange)) < -100


@pytest.mark.parametrize("extra", [0, 60, 61])
def test_up_to_64_features_are_the_coordinates_themselves(extra):
    X = draw([0, 1], extra=extra)[0]
    assert (Coordinates.fit(X).directions is None) == (len(X) <= 64)


def test_nearness_is_that_of_the_samples_learned_from():
    X, division = draw([0, 1, 0])
    states = States.learn(X, division)
    near = np.log(states.features.kernel(states.coordinates(X)).mean(axis=1))
    assert states.nearness == pytest.approx((near.min(), near.std()))


def test_every_sample_counts_for_its_label_and_long_spans_for_less():
    X, division = draw([0, 1, 0])
    states = States.learn(X, division)
    Y, share = states.describe(X)[0], effective_share(40, FIXED_CORRELATION)
    parts = Y[np.r_[:40, 80:120]], Y[40:80]
    np.testing.assert_allclose(states.counts, [80 * share, 40 * share, 120])
    np.testing.assert_allclose(states.totals[:2], [share * rows.sum(axis=0) for rows in parts], atol=1e-6)
    np.testing.assert_allclose(states.products[:2], [share * rows.T @ rows for rows in parts], atol=1e-6)


def test_no_samples_have_no_labels():
    X, division = draw([0, 1])
    states = States.learn(X, division)
    assert states.coordinates(X[:, :0]).shape == (4, 0)
    assert states.score(X[:, :0]).shape == states.assign(X[:, :0]).shape == (0,)


def test_anchors_are_kept_in_single_precision():
    """They are most of what a result folder keeps of its states."""
    arrays = States.learn(*draw([0, 1])).to_arrays()
    kept = {name: array.dtype for name, array in arrays.items() if name.endswith("_anchors")}
    assert kept == {"places_anchors": np.float32, "directions_anchors": np.float32}


def test_what_rounding_is_does_not_depend_on_how_many_equal_samples_there_are():
    alone = Division(np.array([], dtype=np.intp), np.array([0]))
    few, many = (States.learn(np.full((3, n), 0.7), alone).features.places.unit for n in (10, 1000))
    assert many == few
