from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan._core.spans import Division, make_spans


@given(labels=st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_spans_cover_every_sample_once(labels):
    labels = np.array(labels)
    boundaries = np.flatnonzero(np.diff(labels)) + 1
    spans = make_spans(labels, boundaries, np.arange(len(labels)) / 4)
    assert np.concatenate([np.full(s.end - s.start, s.label) for s in spans]).tolist() == labels.tolist()
    assert [s.start for s in spans] == [0, *boundaries]
    assert spans[-1].end_time == pytest.approx(len(labels) / 4 if len(labels) > 1 else 1.0)


@given(labels=st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_a_division_and_its_sample_labels_say_the_same(labels):
    labels = np.array(labels)
    division = Division.from_sample_labels(labels)
    np.testing.assert_array_equal(division.sample_labels(len(labels)), labels)
    assert division.n_labels == len(set(labels.tolist()))
    assert len(division.labels) == len(division.boundaries) + 1
