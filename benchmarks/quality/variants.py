"""seqspan's own variants, which the tables compare with the peers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.quality.methods import NUMBERS, Method

#: Settings of ``seqspan.segment`` that are compared on sets left out: full names of constants in seqspan, and
#: their values. Each differs from the default in one constant.
SETTINGS: dict[str, dict[str, object]] = {
    "default": {},
    "correlation 0.05": {"cuts.ordered.labels.CORRELATION": 0.05},
    "correlation 0.2": {"cuts.ordered.labels.CORRELATION": 0.2},
    "label prior 2": {"cuts.ordered.labels.PRIOR_SAMPLES": 2.0},
    "label prior 12": {"cuts.ordered.labels.PRIOR_SAMPLES": 12.0},
    "prior variance 0.1": {
        "cuts.ordered.view_model.PRIOR_VARIANCE": 0.1,
        "cuts.ordered.labels.PRIOR_VARIANCE": 0.1,
    },
    "prior variance 0.4": {
        "cuts.ordered.view_model.PRIOR_VARIANCE": 0.4,
        "cuts.ordered.labels.PRIOR_VARIANCE": 0.4,
    },
    "label features 16": {"cuts.ordered.features.LABEL_FEATURES": (16, 16)},
    "label features 12 to 32": {"cuts.ordered.features.LABEL_FEATURES": (12, 32)},
    "1 round": {"cuts.ordered.cut.ROUNDS": 1},
    "8 rounds": {"cuts.ordered.cut.ROUNDS": 8},
    "surprise 2": {"cuts.ordered.n_spans.SURPRISE": 2.0},
    "surprise 3": {"cuts.ordered.n_spans.SURPRISE": 3.0},
    "chance 0.8": {"cuts.ordered.n_spans.GRAINS": {"default": 0.8}},
    "chance 1.25": {"cuts.ordered.n_spans.GRAINS": {"default": 1.25}},
}


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


def segment_by_default(X, n_spans, n_labels, rng, kind, *, constants: Mapping[str, object]) -> np.ndarray:
    """Call ``seqspan.segment`` with the numbers that are known and nothing else."""
    import seqspan
    from seqspan.pipeline import as_recording

    counts = {"n_subspaces": n_labels or "auto", "n_spans": n_spans or "auto"}
    seed = int(rng.integers(2**31))
    with replaced(constants):
        return seqspan.segment(as_recording(np.asarray(X), kind), random_state=seed, **counts).labels


@contextmanager
def replaced(constants: Mapping[str, object]) -> Iterator[None]:
    """Replace constants of seqspan, by their full names, for a while.

    Compiled loops keep the values that they were compiled with, so a constant that is to be replaced has to
    be an argument of such a loop.
    """
    with ExitStack() as stack:
        for name, value in constants.items():
            stack.enter_context(patch(f"seqspan.{name}", value))
        yield


def label_given_spans(X, kind, boundaries, n_labels) -> np.ndarray:
    """Label given spans the way seqspan labels those that it finds.

    Parameters
    ----------
    X : array of shape (n, d)
    kind : str
    boundaries : array of int
    n_labels : int

    Returns
    -------
    labels : array of int, shape (n,)
    """
    import seqspan
    from seqspan.pipeline import as_recording

    recording = as_recording(np.asarray(X), kind)
    found = seqspan.segment(recording, n_subspaces=n_labels, n_spans=len(boundaries) + 1)
    rows = found.representation.rows
    inside = np.searchsorted(rows, boundaries)
    labels = found.cutter.label_tree(inside).labels(n_labels)
    lengths = np.diff([0, *inside, len(rows)])
    return found.representation.to_rows(np.repeat(labels, lengths))


def label_by_default(X, boundaries, n_labels, rng, kind, *, constants: Mapping[str, object]) -> np.ndarray:
    """Label given spans with seqspan's defaults."""
    with replaced(constants):
        return label_given_spans(X, kind, np.array(boundaries, dtype=int), n_labels)


def _settings():
    """Yield ``seqspan.segment`` with each of its settings, and its labels of given spans."""
    for setting, constants in SETTINGS.items():
        name = "seqspan" if setting == "default" else f"seqspan, {setting}"
        yield Method(name, "seqspan", partial(segment_by_default, constants=constants), NUMBERS)
        run = partial(label_by_default, constants=constants)
        yield Method(f"{name}, spans given", "seqspan", run, ("labels",), ("boundaries",))


METHODS = (
    *_settings(),
    Method(
        "seqspan, paper's weights",
        "seqspan, ordered",
        partial(segment_prepared, estimator="OSC", cut="ordered"),
        NUMBERS,
    ),
    Method(
        "seqspan, rbf kernel",
        "seqspan, ordered",
        partial(segment_prepared, estimator="OSC", cut="ordered", kernel="rbf"),
        NUMBERS,
    ),
    *(
        Method(
            f"{name} + ordered",
            "seqspan, ordered",
            partial(segment_prepared, estimator=name, cut="ordered"),
            NUMBERS,
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
