"""Tiny problems: a few columns from two subspaces, and one model of every kind with sensible weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from seqspan.cuts.ordered.cost import GaussianCost
from seqspan.cuts.ordered.features import coefficient_features, sample_features
from seqspan.models import (
    GraphRegularised,
    Lrr,
    LrrColumnNoise,
    LrrNoiseFree,
    Lsr,
    Model,
    Osc,
    OscLowRank,
    SpatSc,
    Ssc,
    SscNoiseFree,
    SscOutliers,
)

WIDE, TALL = (5, 11), (14, 9)  # fewer rows than columns, and more
SHAPES = {"wide": WIDE, "tall": TALL}


def two_subspaces(shape: tuple[int, int], seed: int, noise: float = 0.1) -> np.ndarray:
    """Unit columns: the first half near one plane, the second half near another; exact without noise."""
    d, n = shape
    rng = np.random.default_rng(seed)
    halves = [n // 2, n - n // 2]
    spans = [rng.standard_normal((d, 2)) @ (0.5 + rng.standard_normal((2, m))) for m in halves]
    X = np.hstack(spans)
    X /= np.linalg.norm(X, axis=0)
    X += noise * rng.standard_normal(X.shape) / np.sqrt(d)
    return X / np.linalg.norm(X, axis=0)


def identical_columns(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """n copies of one unit vector, and the vector: every objective has a minimum in closed form."""
    x = np.random.default_rng(seed).standard_normal(d)
    x /= np.linalg.norm(x)
    return np.tile(x[:, None], n), x


def two_blocks(m: int, d: int, seed: int) -> np.ndarray:
    """m copies of a unit vector, then m copies of another at a right angle to it."""
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, 2)))[0]
    return np.repeat(Q, m, axis=1)


def ring_weights(n: int, seed: int) -> np.ndarray:
    """A symmetric graph: a ring and a few chords, with weights of different sizes."""
    rng = np.random.default_rng(seed)
    W = np.zeros((n, n))
    for i in range(n):
        for j in ((i + 1) % n, (i + 3) % n):
            W[i, j] = W[j, i] = rng.uniform(0.3, 1.5)
    return W


@dataclass(frozen=True)
class Case:
    """A model for any X, with a coupling and half the squared residual or not, as its terms say.

    Exact cases need data without noise, slow ones a smaller penalty mu.
    """

    make: Callable[[np.ndarray], Model]
    coupled: bool = False
    squares: bool = True
    exact: bool = False
    closed_form: bool = False
    mu: float = 1.0

    def problem(self, shape: str, seed: int) -> tuple[Model, np.ndarray]:
        X = two_subspaces(SHAPES[shape], seed, noise=0.0 if self.exact else 0.3)
        return self.make(X), X


CASES = {
    "ssc": Case(lambda X: Ssc(0.05)),
    "ssc_per_sample": Case(lambda X: Ssc(np.linspace(0.02, 0.3, X.shape[1]))),
    "ssc_noise_free": Case(lambda X: SscNoiseFree(), exact=True),
    "ssc_outliers": Case(lambda X: SscOutliers(20.0, 2.0)),
    "ssc_only_outliers": Case(lambda X: SscOutliers(None, 3.0)),
    "ssc_only_noise": Case(lambda X: SscOutliers(20.0, None)),
    "lrr": Case(lambda X: Lrr(0.2), closed_form=True),
    "lrr_noise_free": Case(lambda X: LrrNoiseFree(), exact=True, closed_form=True),
    "lrr_column_noise": Case(lambda X: LrrColumnNoise(0.7)),
    "lsr": Case(lambda X: Lsr(0.2), closed_form=True),
    "graph_low_rank": Case(
        lambda X: GraphRegularised(0.2, 0.03, ring_weights(X.shape[1], 5)), coupled=True, mu=0.3
    ),
    "graph_l1": Case(
        lambda X: GraphRegularised(0.1, 0.03, ring_weights(X.shape[1], 6), low_rank=False),
        coupled=True,
        mu=0.3,
    ),
    "spatsc": Case(lambda X: SpatSc(0.1, 0.03), coupled=True, mu=0.04),
    "spatsc_with_diagonal": Case(lambda X: SpatSc(0.1, 0.03, zero_diagonal=False), coupled=True, mu=0.04),
    "osc": Case(lambda X: Osc(0.1, 0.2), coupled=True, mu=0.3),
    "osc_zero_diagonal": Case(lambda X: Osc(0.1, 0.2, zero_diagonal=True), coupled=True, mu=0.3),
    "osc_low_rank": Case(lambda X: OscLowRank(0.2, 0.1), coupled=True, mu=0.3),
    # several recordings, one of them a single sample
    "spatsc_joined": Case(lambda X: SpatSc(0.1, 0.03, joins=(3, 4)), coupled=True, mu=0.04),
    "osc_joined": Case(lambda X: Osc(0.1, 0.2, joins=(4, 7)), coupled=True, mu=0.3),
    "osc_zero_diagonal_joined": Case(lambda X: Osc(0.1, 0.2, True, joins=(1, 6)), coupled=True, mu=0.3),
    "osc_low_rank_joined": Case(lambda X: OscLowRank(0.2, 0.1, joins=(4,)), coupled=True, mu=0.3),
}


@dataclass(frozen=True)
class Planted:
    """A problem built around its optimum: coefficients, dual point and minimum are known."""

    model: Model
    X: np.ndarray
    Z: np.ndarray
    E: np.ndarray
    V: np.ndarray
    minimum: float


def _blocks(m: int, on: float, off: float) -> np.ndarray:
    """(2m, 2m) with `on` in the diagonal blocks and `off` beside them."""
    return np.kron(np.array([[on, off], [off, on]]), np.ones((m, m)))


def _tent(m: int, slope: float) -> np.ndarray:
    """Multiplier whose rows fall (first block) or rise (second) to the border and come back to zero."""
    climb = slope * np.concatenate([np.arange(1, m + 1), np.arange(m - 1, 0, -1)])
    return np.vstack([np.tile(-climb, (m, 1)), np.tile(climb, (m, 1))])


def planted(kind: str, m: int, seed: int, lam1: float = 0.1, lam2: float = 0.2) -> Planted:
    """Two orthogonal blocks of m equal columns, where the optimality conditions can be solved by hand.

    The optimal Z is constant on blocks. With t the sum of a column of Z inside its block, the
    multiplier V climbs by `slope` per step up to its ball at the border of the blocks, and

    - OSC: ``1 - t = lam1 + slope``, slope = lam2 / (m sqrt(2m)), nothing outside the blocks;
    - SpatSC: the same with slope = lam2 / m;
    - low rank: ``1 - t = lam1 / m + slope``, and outside the blocks u = slope, which is free there.
    """
    X = two_blocks(m, 6, seed)
    slope = lam2 / m if kind == "spatsc" else lam2 / (m * np.sqrt(2 * m))
    t, u = (1 - lam1 / m - slope, slope) if kind == "osc_low_rank" else (1 - lam1 - slope, 0.0)
    make = {
        "osc": lambda: Osc(lam1, lam2),
        "spatsc": lambda: SpatSc(lam1, lam2, zero_diagonal=False),
        "osc_low_rank": lambda: OscLowRank(lam1, lam2),
    }
    squares = m * ((1 - t) ** 2 + u**2)
    single = 2 * lam1 * t if kind == "osc_low_rank" else 2 * m * lam1 * t
    jump = 2 * lam2 * t if kind == "spatsc" else lam2 * np.sqrt(2 / m) * (t - u)
    Z = _blocks(m, t / m, u / m)
    return Planted(make[kind](), X, Z, X - X @ Z, _tent(m, slope), squares + single + jump)


def make_cost(X, Z=None):
    """The cost that the ordered cut minimises, by samples and, if given, by their coefficients."""
    return GaussianCost([sample_features(X), *([] if Z is None else [coefficient_features(Z)])])
