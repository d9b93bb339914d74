"""Known states in a stream: those of `predict`, however the samples arrive."""

from __future__ import annotations

import numpy as np
import pytest

import seqspan
from seqspan.cuts.online.stream import CHUNK
from seqspan.datasets import make_recurring_subspaces
from seqspan.estimators._known_stream import KnownStream


@pytest.fixture(scope="module", params=[None, "centre", "centre,delay:5"])
def known(request):
    X, _ = make_recurring_subspaces((0, 1, 2, 0, 1), 3, 12, 50, rng=0)
    return seqspan.segment(X.T, preprocess=request.param).states


def rows_of(order, seed=0):
    """Spans of the same recording in another order; 5 is one that is new."""
    first, _ = make_recurring_subspaces((0, 1, 2, 0, 1), 3, 12, 50, rng=0)
    spans = [*np.split(first.T, 5), np.random.default_rng(seed).standard_normal((50, 12)) * first.std() * 3]
    return np.concatenate([spans[place] for place in order])


@pytest.mark.parametrize("block", [1, 37, 1000])
def test_the_stream_says_what_predict_says(known, block):
    rows = rows_of((1, 0, 5, 2, 4, 3, 1))
    stream = KnownStream(known)
    for start in range(0, len(rows), block):
        stream.extend(rows[start : start + block])
    early = list(stream.final)
    found = stream.finish()
    np.testing.assert_array_equal(found.sample_labels(len(rows)), known.predict(rows))
    assert len(early) >= 2
    assert stream.final[: len(early)] == early
    assert all(delay >= 0 for delay in stream.delays)


def test_blocks_change_nothing(known):
    rows, streams = rows_of((1, 0, 2)), (KnownStream(known), KnownStream(known))
    for row in rows:
        streams[0].extend(row[None])
    streams[1].extend(rows)
    assert streams[0].final == streams[1].final
    assert streams[0].delays == streams[1].delays


def test_a_stream_shorter_than_any_span_has_one(known):
    stream = KnownStream(known)
    stream.extend(rows_of((1,))[:2])
    found = stream.finish()
    assert len(found.boundaries) == 0
    assert found.labels[0] == known.predict(rows_of((1,))[:2])[0]


@pytest.mark.parametrize("n_samples", [CHUNK, 2 * CHUNK, 2 * CHUNK + 1])
def test_nothing_is_left_at_the_end_of_a_whole_number_of_chunks(known, n_samples):
    rows = rows_of((1, 0, 2))[:n_samples]
    stream = KnownStream(known)
    stream.extend(rows)
    np.testing.assert_array_equal(stream.finish().sample_labels(n_samples), known.predict(rows))


def test_steps_that_leave_out_samples_are_refused():
    X, _ = make_recurring_subspaces((0, 1), 3, 12, 60, rng=0)
    with pytest.raises(ValueError, match="must not contain 'subsample'"):
        KnownStream(seqspan.segment(X.T, preprocess="subsample:2").states)
