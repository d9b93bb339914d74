"""What the docstrings of all estimators share: written once here, and put into each of them."""

from __future__ import annotations

import inspect
import re
from typing import TypeVar

Estimator = TypeVar("Estimator")

PARAMETERS = """
n_subspaces : int or str
    Number of distinct labels; "auto" or the name of another estimator of
    :mod:`seqspan.cuts.spectral.n_subspaces` finds it.
n_spans : int or "auto"
    Number of stretches of time, for ``cut="ordered"`` and ``cut="peaks"``.
solver : {"fast", "vladmap", "ladmpsap", "sylvester", "splitting"}
    The minimum is the same: "vladmap" and "ladmpsap" are the paper's relaxed and exact algorithms,
    "sylvester" is the CVPR 2014 one.
cut : {"ncut", "ordered", "peaks"}
    How coefficients become labels: normalised cut, best spans in the order of time, or peaks of the
    coefficients' change in time.
min_length : int
    Samples that a span of the ordered cut has at least.
kernel : {"linear", "cosine", "rbf"} or callable
    Where samples are represented: as they are, or in the features of a kernel (:mod:`seqspan._core.kernels`).
zero_diagonal : bool
    Forbid that a sample represents itself; landmarks are no samples, and nothing is forbidden.
normalize : bool
    Scale every sample to unit norm, as the models assume.
preprocess : None, "auto", str or list of steps
    Steps of :mod:`seqspan.preprocess` to apply first; "auto" lets the data choose.
tol : float
    Stop when the duality gap is at most `tol` times the objective.
stopping : {"gap", "published"}
    "published" stops by the rule of the solver's paper and reports the gap it stopped at.
max_iter : int
    Largest number of iterations; reaching it warns, and the result is still there.
warm_start : bool
    Start the next ``fit`` where this one ended, as after changing a weight.
dictionary : {"samples", "landmarks", "auto"}
    What represents the samples: all of them, as in the paper, or `n_landmarks` chosen along the sequence,
    so that memory and time grow with n and no longer with n^2. "auto" takes landmarks above 10,000
    samples, and warns.
n_landmarks : int
    Number of atoms with landmarks.
time_scale : int
    For `partial_fit`: samples in which something can happen, a second of motion capture by default.
device : {"cpu", "cuda"}
    "cuda" solves and cuts on an NVIDIA GPU (docs/gpu.md). CuPy arrays given are CuPy arrays returned.
n_jobs : int, optional
    Threads of the fast solver; all cores by default.
random_state : int, RandomState or None
    Seed of the cut.
callback : callable, optional
    Called with a :class:`seqspan.solvers.Progress` whenever the gap has been computed.
verbose : int
    Above zero, shows progress on standard error.
"""

ATTRIBUTES = """
labels_ : array of int, shape (n_samples,)
    Which subspace every sample lies in.
boundaries_ : array of int
    Interior starts: ``np.split(X, boundaries_)`` gives the spans.
confidence_ : array of float, or None
    How sure each boundary is, in [0, 1]; None unless ``cut="ordered"``.
n_subspaces_ : int
    Number of distinct labels.
coef_ : array of shape (n_samples, n_samples)
    Z; column j represents sample j. (n_landmarks, n_samples) with landmarks.
objective_, dual_gap_ : float
    Value of the model at ``coef_``, and by how much of it the optimum could be lower at most.
n_iter_ : int
    Iterations of the solver.
history_ : list of Progress
    Iteration, objective, gap and seconds of every certificate.
preprocess_ : tuple of dict
    The steps that were applied, with their settings.
n_features_in_ : int
    Number of features of the samples.
"""

ORDERED_ATTRIBUTES = """
lambda_1_, lambda_2_ : float
    The weights, chosen by the data where they were "auto".
dictionary_ : {"samples", "landmarks"}
    What represents the samples.
landmarks_ : array of shape (n_landmarks, n_features)
    The atoms, with landmarks.
"""


def entries(section: str) -> dict[str, str]:
    r"""Split a section of a docstring into its entries, by name.

    Examples
    --------
    >>> entries("tol : float\n    When to stop.\nseed : int")
    {'tol': 'tol : float\n    When to stop.', 'seed': 'seed : int'}
    """
    found = re.split(r"\n(?=\S)", section.strip())
    return {entry.partition(" :")[0]: entry for entry in found if entry}


def explain_shared(kind: type[Estimator]) -> type[Estimator]:
    """Complete the docstring of an estimator by the shared parameters and attributes, as a decorator."""
    text = inspect.cleandoc(kind.__doc__ or "")
    head, found, rest = text.partition("Parameters\n----------\n")
    if not found:  # Python was told to drop docstrings
        return kind
    own, _, examples = rest.partition("\n\nExamples\n--------\n")
    known = entries(PARAMETERS) | entries(own)
    names = list(inspect.signature(kind).parameters)
    attributes = ATTRIBUTES.strip() + (ORDERED_ATTRIBUTES.rstrip() if "dictionary" in names else "")
    parameters = "\n".join(known[name] for name in names)
    kind.__doc__ = (
        f"{head}{found}{parameters}\n\nAttributes\n----------\n{attributes}\n\nExamples\n--------\n{examples}"
    )
    return kind
