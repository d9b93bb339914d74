"""The certificate as the GPU computes it: one scale for all time steps, and no means over runs."""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array
from seqspan.models.certificate import parabola_top
from seqspan.solvers.fast.certificate import left_out_loss
from seqspan.solvers.fast.sweeps import HUGE, TINY, State, Sweeps


def certify_with_one_scale(sweeps: Sweeps, s: State) -> tuple[float, float]:
    """Return the objective at the shrunk V, and the bound whose scale the longest column of V sets."""
    model, data = sweeps.model, sweeps.data
    absolute, (squares, entries, _), fitted = sweeps.evaluate(s)
    coupled = entries.sum() if sweeps.entrywise else np.sqrt(squares).sum()
    fit = np.sum(_residual(sweeps, fitted) ** 2) / 2 + data.outside + left_out_loss(sweeps, s)
    value = float(fit + model.lam1 * absolute[0] + model.lam2 * coupled)

    E = _residual(sweeps, s.fitted)
    bands = np.array([model.lam1, model.lam1 * (1 + s.gap / 6), model.lam1 * (1 + s.gap / 2), HUGE])
    squares, largest, worst, _ = sweeps.tighten(s, E * data.sigma, bands)
    lengths = (largest if sweeps.entrywise else np.sqrt(squares)).max(axis=1)
    limit = np.minimum(model.lam1 / np.maximum(worst, TINY), model.lam2 / np.maximum(lengths, TINY)).max()
    bound = float(parabola_top(np.sum(E * data.Y), np.sum(E**2) / 2, limit)) + data.outside
    s.gap = max(value - bound, 0.0) / value if value > 0 else 0.0
    return value, bound


def _residual(sweeps: Sweeps, fitted: Array) -> Array:
    """``U^T (X - XZ)`` of all time steps, transposed."""
    return np.concatenate([E for _, E in sweeps.data.residuals(fitted)])
