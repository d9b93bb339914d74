"""Valid samples that a model cannot take, which must be said in so many words."""

from __future__ import annotations

import numpy as np

from benchmarks.soak.cases import Case
from seqspan import SSC, pipeline

REFUSALS = ("out of range", "infeasible")
#: What says that samples, or what a user's kernel makes of them, leave the range of floats.
OUT_OF_RANGE = ("normalize=True", "scale X down", "kernel must return finite values")
MIN_RESIDUAL = 1e3  # in units of rounding; a sample this far from the span of the others is not a combination


def rightly_refused(case: Case, error: ValueError) -> str | None:
    """Why a valid fit was refused, if that is right; otherwise None."""
    if case.may_overflow and any(words in str(error) for words in OUT_OF_RANGE):
        return "out of range"
    if isinstance(case.estimator, SSC) and "infeasible" in str(error) and _has_independent_sample(case):
        return "infeasible"
    return None


def _has_independent_sample(case: Case) -> bool:
    """Whether least squares leaves a residual for some sample and all others."""
    method, _ = case.estimator.stages()
    recording = pipeline.as_recording(np.asarray(case.X))
    chain = pipeline.Chain() if method.preprocess is None else pipeline._choose_chain(recording, method)
    without, unit = pipeline._without_unit_norm(chain)
    X = pipeline._columns(
        pipeline._prepare(recording, without, method), method, unit=unit or method.normalize
    )
    X = X / (np.abs(X).max() or 1.0)
    rounding = max(X.shape) * float(np.finfo(X.dtype).eps)
    for j, sample in enumerate(X.T):
        others = np.delete(X, j, axis=1)
        residual = sample - others @ np.linalg.lstsq(others, sample, rcond=rounding)[0]
        if np.linalg.norm(residual) > MIN_RESIDUAL * rounding * np.linalg.norm(sample):
            return True
    return False
