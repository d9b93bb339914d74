"""Boundaries of planted blocks, and the ways between labels and boundaries."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan._core.spans import boundaries_from_labels
from seqspan.cuts.peaks import PeakCutter, boundary_strength, peak_boundaries

span_lengths = st.lists(st.integers(3, 9), min_size=2, max_size=6)


def planted(lengths, noise=0.0, seed=0):
    """Block-diagonal Z with the given spans, plus Gaussian noise, and its interior starts."""
    labels = np.repeat(np.arange(len(lengths)), lengths)
    Z = (labels[:, None] == labels) / np.asarray(lengths)[labels]  # columns of sum one
    rng = np.random.default_rng(seed)
    return Z + noise * rng.standard_normal(Z.shape), np.cumsum(lengths)[:-1]


def test_two_samples_are_enough_to_differ():
    assert boundary_strength(np.eye(2)).tolist() == [1.0]


def test_strength_is_the_column_mean_of_the_differences():
    Z = np.random.default_rng(0).standard_normal((5, 7))
    R = np.eye(7, 6, k=-1) - np.eye(7, 6)  # Z R = [z_2 - z_1, ...]
    np.testing.assert_allclose(boundary_strength(Z), np.abs(Z @ R).mean(axis=0))


@given(lengths=span_lengths, seed=st.integers(0, 2**31))
def test_peaks_find_noisy_blocks_with_and_without_their_number(lengths, seed):
    # Entries of a block are 1/9 at least and b jumps by 2/n; noise of 0.002 moves b by 0.001 at most.
    Z, expected = planted(lengths, noise=0.002, seed=seed)
    np.testing.assert_array_equal(peak_boundaries(Z), expected)
    np.testing.assert_array_equal(peak_boundaries(Z, n_spans=len(lengths)), expected)


@given(seed=st.integers(0, 2**31))
def test_one_noisy_span_has_no_boundary(seed):
    Z, _ = planted([30], noise=0.005, seed=seed)
    assert peak_boundaries(Z).size == 0


@pytest.mark.parametrize(("exchanged", "expected"), [(0.45, []), (0.5, []), (0.55, [5])])
def test_a_boundary_exchanges_more_than_half_of_the_coefficients(exchanged, expected):
    Z = np.zeros((2, 10))
    Z[0] = 1 - exchanged * (np.arange(10) >= 5)
    Z[1] = 1 - Z[0]
    assert peak_boundaries(Z).tolist() == expected


@pytest.mark.parametrize("further", [3, 6])
def test_only_the_samples_beside_a_boundary_say_what_is_half(further):
    Z = np.zeros((2, 10))
    Z[0] = 1 - 0.55 * (np.arange(10) >= 5)
    Z[1] = 1 - Z[0]
    Z[0, further] += 0.3  # larger, but not by a step that would be a boundary
    assert peak_boundaries(Z).tolist() == [5]


def test_of_equal_peaks_the_earliest_are_kept():
    Z = np.repeat(np.cumsum(np.tile([1.0, 2.0], 30)), 2)[None]  # steps of 2 at 2, 6, 10, ..., of 1 between
    assert peak_boundaries(Z, n_spans=6).tolist() == [2, 6, 10, 14, 18]


def test_the_most_prominent_peaks_are_kept():
    Z = np.zeros((1, 20))
    Z[0, 5:] += 1.0
    Z[0, 12:] += 3.0
    Z[0, 16:] += 2.0
    assert peak_boundaries(Z, n_spans=1).tolist() == []
    assert peak_boundaries(Z, n_spans=2).tolist() == [12]
    assert peak_boundaries(Z, n_spans=3).tolist() == [12, 16]
    assert peak_boundaries(Z, n_spans=9).tolist() == [5, 12, 16]


def test_a_boundary_may_lie_next_to_either_end():
    Z, _ = planted([1, 6, 1])
    assert peak_boundaries(Z).tolist() == [1, 7]
    assert peak_boundaries(Z, min_length=2).tolist() == []


@given(seed=st.integers(0, 2**31), min_length=st.integers(1, 12))
def test_no_span_is_shorter_than_asked(seed, min_length):
    Z = np.random.default_rng(seed).standard_normal((4, 24))
    for found in (peak_boundaries(Z, min_length=min_length), peak_boundaries(Z, 2, min_length=min_length)):
        assert np.diff([0, *found, 24]).min() >= min_length


@pytest.mark.parametrize("min_length", [13, 24, 25, 100])
def test_what_is_too_short_to_be_divided_stays_whole(min_length):
    Z, _ = planted([12, 12])
    found = peak_boundaries(Z, min_length=min_length)
    assert found.tolist() == []
    assert np.issubdtype(found.dtype, np.integer)
    assert peak_boundaries(Z, min_length=12).tolist() == [12]


def test_a_change_that_never_pauses_is_no_boundary():
    Z = np.tile(np.eye(2), 8)  # every sample is represented by others than the one before
    assert peak_boundaries(Z).tolist() == []


@pytest.mark.parametrize("shape", [(3, 1), (3, 0), (0, 3), (4,), (2, 3, 4)])
@pytest.mark.parametrize("read", [boundary_strength, peak_boundaries])
def test_what_has_no_consecutive_columns_is_named(read, shape):
    with pytest.raises(ValueError, match=rf"2 or more samples; got shape {re.escape(str(shape))}"):
        read(np.ones(shape))


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"at most 6 for 6 samples; got n_spans=4, min_length=2"):
        peak_boundaries(np.eye(6), 4, min_length=2)
    with pytest.raises(ValueError, match="got n_spans=0"):
        peak_boundaries(np.eye(6), 0)
    with pytest.raises(ValueError, match=r"labels must be a 1-D array; got shape \(2, 2\)"):
        boundaries_from_labels(np.eye(2))


def test_joins_are_boundaries_beside_the_most_prominent_peaks_of_each_recording():
    """Four levels, of which the second join cuts one; changes of sizes 3, 9 and 2 at 6, 12 and 18."""
    Z = np.repeat([[0.0, 3.0, 12.0, 14.0]], 6, axis=1)
    cutter = PeakCutter(None, np.abs(Z) + 1, joins=(12, 15))
    assert cutter.cut(n_spans=3).boundaries.tolist() == [12, 15]
    assert cutter.cut(n_spans=4).boundaries.tolist() == [6, 12, 15]
    assert cutter.cut(n_subspaces=5).boundaries.tolist() == [6, 12, 15, 18]
    assert cutter.cut(n_spans=5).labels.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="n_subspaces must be an int or 'auto' for this cut; got 'eigengap'"):
        cutter.cut(n_subspaces="eigengap")
    with pytest.raises(ValueError, match="n_spans must be an int or 'auto' for this cut; got 'many'"):
        cutter.cut(n_spans="many")


def test_recordings_of_one_sample_have_no_peaks():
    Z, _ = planted([6, 6])
    cutter = PeakCutter(None, np.hstack([Z[:, :1], Z]), joins=(1,))
    assert cutter.cut().boundaries.tolist() == cutter.cut(n_spans=3).boundaries.tolist() == [1, 7]


def test_the_strength_takes_no_more_memory_than_the_differences():
    Z = np.random.default_rng(0).standard_normal((600, 600))
    tracemalloc.start()
    try:
        boundary_strength(Z)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * Z.nbytes
