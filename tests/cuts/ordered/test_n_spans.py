"""The number of spans minimises cost plus penalty."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan.cuts.ordered.n_spans import choose_n_spans, span_penalty


class Curve:
    """Stands for a search whose least costs are known."""

    def __init__(self, costs):
        self._costs, self.max_spans = costs, len(costs)

    def cost(self, n_spans):
        return self._costs[n_spans - 1]


@given(
    savings=st.lists(st.floats(0, 10), min_size=1, max_size=9),
    penalty=st.floats(0, 30),
    fewest=st.integers(1, 3),
)
def test_no_other_number_is_cheaper(savings, penalty, fewest):
    costs = 100 - np.cumsum([0.0, 0.0, 0.0, *savings])
    chosen = choose_n_spans(Curve(costs), fewest, penalty)
    totals = costs + penalty * np.sqrt(np.arange(1, len(costs) + 1))
    assert fewest <= chosen <= len(costs)
    if len(costs) <= 2 * fewest + 8:  # all of them are looked at
        assert totals[chosen - 1] == totals[fewest - 1 :].min()


def test_it_looks_past_a_first_minimum_but_not_to_the_end():
    costs = np.full(40, 100.0)
    costs[9:] = 0.0  # ten spans, just within 2 * 1 + 8
    assert choose_n_spans(Curve(costs), 1, 1.0) == 10
    costs[9] = 100.0
    assert choose_n_spans(Curve(costs), 1, 1.0) == 1


@pytest.mark.parametrize(("slope", "n_samples", "expected"), [(1.0, 100, 420.0), (0.125, 100, 210.0)])
def test_the_penalty_grows_with_the_cube_root_of_the_slope_and_with_the_samples(slope, n_samples, expected):
    assert span_penalty(slope, n_samples) == pytest.approx(expected)
    assert span_penalty(slope, 3 * n_samples) == pytest.approx(3 * expected)
