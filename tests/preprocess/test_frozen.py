"""Preprocessing with what was learned before."""

from __future__ import annotations

import numpy as np
import pytest

from seqspan.preprocess import make_chain
from seqspan.preprocess._frozen import FrozenChain

CHAINS = ["centre", "centre,scale", "pca:0.9", "centre,delay:3:2", "scale,pca:1.0,unit_norm", ""]


def samples(n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.arange(1, d + 1) + 4


@pytest.mark.parametrize("steps", CHAINS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_on_the_rows_learned_from_it_is_the_chain(steps, dtype):
    rows, chain = samples().astype(dtype), make_chain(steps)
    found = FrozenChain.learn(chain, rows)(rows)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, chain.apply(rows), atol=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("steps", CHAINS)
def test_later_rows_change_nothing_that_was_learned(steps):
    rows = samples()
    frozen = FrozenChain.learn(make_chain(steps), rows)
    reach = frozen.reach
    later = np.concatenate([rows, 100 + samples(seed=1)])
    both = frozen(later)[: len(rows) - reach]
    np.testing.assert_allclose(both, frozen(rows)[: len(rows) - reach])


def test_the_reach_is_that_of_the_delays():
    assert FrozenChain.learn(make_chain("delay:5:3,delay:3"), samples()).reach == 7


def test_samples_cannot_be_left_out():
    with pytest.raises(ValueError, match=r"^samples that arrive later are all kept: .*'subsample'\.$"):
        FrozenChain.learn(make_chain("subsample:2"), samples())
