"""What samples cost as draws of one Gaussian, in two other ways than the code under test; planted places."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.special import multigammaln
from scipy.stats import multivariate_t

from seqspan.cuts.ordered.labels import PRIOR_SAMPLES
from seqspan.cuts.ordered.view_model import PRIOR_VARIANCE

MEANS = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]])
ORDER, LENGTHS = [0, 1, 0, 2, 1, 0], [30, 22, 25, 40, 18, 33]
BOUNDARIES = np.cumsum(LENGTHS)[:-1]


def features(n, p, seed):
    """Correlated features with a drifting mean."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) @ rng.standard_normal((p, p)) + np.linspace(-1, 1, n)[:, None]


def predictive_chain(Y, prior_samples=1.0):
    """-log p(Y) under the normal-inverse-Wishart prior: each sample is multivariate t given those before."""
    p = Y.shape[1]
    kappa, degrees, mean, total = 1.0, p + 1 + prior_samples, np.zeros(p), 0.0
    scatter = PRIOR_VARIANCE * prior_samples * np.eye(p)
    for y in Y:
        free = degrees - p + 1
        shape = scatter * (kappa + 1) / (kappa * free)
        total -= multivariate_t(mean, shape, free).logpdf(y)
        scatter = scatter + kappa / (kappa + 1) * np.outer(y - mean, y - mean)
        mean = (kappa * mean + y) / (kappa + 1)
        kappa, degrees = kappa + 1, degrees + 1
    return total


def cost_by_chain(Y, sizes, prior_samples=1.0):
    """Mean over numbers of leading features; the cost leaves out log(pi) / 2 per sample and feature."""
    left_out = len(Y) / 2 * np.log(np.pi)
    return np.mean([predictive_chain(Y[:, :size], prior_samples) - size * left_out for size in sizes])


def weighted_cost(Y, weights, sizes, prior_samples=1.0):
    """The textbook's ratio of normalising constants [Murphy 2007, (266)], each sample with its weight."""
    count = weights.sum()
    mean = weights @ Y / (1 + count)
    costs = []
    for size in sizes:
        prior = PRIOR_VARIANCE * prior_samples * np.eye(size)
        y, m = Y[:, :size], mean[:size]
        posterior = prior + (y * weights[:, None]).T @ y - (1 + count) * np.outer(m, m)
        free = size + 1 + prior_samples
        costs.append(
            multigammaln(free / 2, size)
            - multigammaln((free + count) / 2, size)
            + (free + count) / 2 * np.linalg.slogdet(posterior)[1]
            - free / 2 * np.linalg.slogdet(prior)[1]
            + size / 2 * np.log(1 + count)
        )
    return float(np.mean(costs))


def places(order, lengths, noise=0.4, seed=0):
    """Samples near one of four places in turn."""
    mean = MEANS[np.repeat(order, lengths)]
    return mean + noise * np.random.default_rng(seed).standard_normal(mean.shape)


def spans_of(division, n):
    """Where the spans of a division begin and end."""
    return list(pairwise([0, *division.boundaries.tolist(), n]))


def cost_of_group(Y, edges, group, share, prior_samples=PRIOR_SAMPLES):
    """Cost of the samples of several spans, of each span the share that counts."""
    rows = np.concatenate([np.arange(edges[s], edges[s + 1]) for s in group])
    weights = np.concatenate(
        [np.full(edges[s + 1] - edges[s], share(edges[s + 1] - edges[s])) for s in group]
    )
    sizes = range(2, Y.shape[1] + 1, 2) if Y.shape[1] > 1 else [1]
    return weighted_cost(Y[rows], weights, sizes, prior_samples)
