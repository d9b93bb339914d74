"""The scikit-learn face: rows in, labels out.

All estimators share these parameters:

n_subspaces : int or str
    Number of distinct labels; "auto" or the name of another estimator of
    :mod:`seqspan.n_subspaces` finds it from the affinity.
n_spans : int or "auto"
    Number of stretches of time, for ``cut="ordered"`` and ``cut="peaks"``.
cut : {"ncut", "ordered", "peaks"}
    How coefficients become labels: normalised cut, best spans in the order of time, or peaks of the
    coefficients' change in time.
min_length : int
    Samples that a span of the ordered cut has at least.
kernel : {"linear", "cosine", "rbf"} or callable
    Where samples are represented: as they are, or in the features of a kernel (:mod:`seqspan.kernels`).
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
device : {"cpu", "cuda"}
    Of OSC and SpatSC: "cuda" solves and cuts on an NVIDIA GPU (docs/gpu.md). CuPy arrays given are CuPy
    arrays returned.
n_jobs : int, optional
    Threads of the fast solver; all cores by default.
random_state : int, RandomState or None
    Seed of the cut.
callback : callable, optional
    Called with a :class:`seqspan.solvers.Progress` whenever the gap has been computed.
verbose : int
    Above zero, shows progress on standard error.

and these attributes after ``fit``:

labels_ : array of int, shape (n_samples,)
boundaries_ : array of int
    Interior starts: ``np.split(X, boundaries_)`` gives the spans.
coef_ : array of shape (n_samples, n_samples)
    Z; column j represents sample j. (n_landmarks, n_samples) with landmarks.
confidence_ : array of float, or None
    How sure each boundary is, in [0, 1]; None unless ``cut="ordered"``.
n_subspaces_ : int
objective_, dual_gap_ : float
    Value of the model at ``coef_``, and by how much of it the optimum could be lower at most.
n_iter_ : int
history_ : list of Progress
    Iteration, objective, gap and seconds of every certificate.
"""

from seqspan.estimators.ordered import COUPLED_SOLVERS, OSC, SpatSC
from seqspan.estimators.segmenter import SubspaceSegmenter
from seqspan.estimators.unordered import LRR, LSR, SSC

__all__ = ["COUPLED_SOLVERS", "LRR", "LSR", "OSC", "SSC", "SpatSC", "SubspaceSegmenter"]
