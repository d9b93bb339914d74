"""seqspan's own variants, which the tables compare with the peers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.quality.methods import Method


def segment(X, n_spans, n_labels, rng, kind, *, estimator: str, **settings: Any) -> np.ndarray:
    """Fit an estimator of seqspan; a number that is not given is "auto"."""
    import seqspan

    counts = {"n_subspaces": "auto" if n_labels is None else n_labels}
    if settings.get("cut", "ncut") != "ncut":
        counts["n_spans"] = "auto" if n_spans is None else n_spans
    seed = int(rng.integers(2**31))
    settings["kind"] = settings.pop("kind_of_recording", "table")
    model = getattr(seqspan, estimator)(**counts, random_state=seed, **settings)
    return np.asarray(model.fit(np.asarray(X, dtype=float)).labels_)


def segment_prepared(X, n_spans, n_labels, rng, kind, **settings: Any) -> np.ndarray:
    """Fit an estimator after the preprocessing that ``seqspan.segment`` would choose."""
    return segment(X, n_spans, n_labels, rng, kind, preprocess="auto", kind_of_recording=kind, **settings)


def segment_by_default(X, n_spans, n_labels, rng, kind) -> np.ndarray:
    """Call ``seqspan.segment`` with the numbers that are known and nothing else."""
    import seqspan
    from seqspan.pipeline import as_recording

    counts = {"n_subspaces": n_labels or "auto", "n_spans": n_spans or "auto"}
    seed = int(rng.integers(2**31))
    return seqspan.segment(as_recording(np.asarray(X), kind), random_state=seed, **counts).labels


NEEDS = ("spans", "labels")

METHODS = (
    Method("seqspan", "seqspan", segment_by_default, NEEDS),
    Method(
        "seqspan, paper's weights",
        "seqspan, ordered",
        partial(segment_prepared, estimator="OSC", cut="ordered"),
        NEEDS,
    ),
    Method(
        "seqspan, rbf kernel",
        "seqspan, ordered",
        partial(segment_prepared, estimator="OSC", cut="ordered", kernel="rbf"),
        NEEDS,
    ),
    *(
        Method(
            f"{name} + ordered",
            "seqspan, ordered",
            partial(segment_prepared, estimator=name, cut="ordered"),
            NEEDS,
        )
        for name in ("SpatSC", "LRR", "SSC", "LSR")
    ),
    *(
        Method(f"{name} + ncut", "seqspan, ncut", partial(segment, estimator=name, cut="ncut"), ("labels",))
        for name in ("OSC", "SpatSC", "LRR", "SSC")
    ),
    Method(
        "OSC + ncut, prepared",
        "seqspan, ncut",
        partial(segment_prepared, estimator="OSC", cut="ncut"),
        ("labels",),
    ),
)
