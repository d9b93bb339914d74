"""Sparse subspace clustering."""

from __future__ import annotations

from seqspan.estimators._base import SubspaceSegmenter
from seqspan.methods.ssc import SscParameters


class SSC(SscParameters, SubspaceSegmenter):
    """Sparse subspace clustering: represents every sample by a few others, anywhere in time.

    Minimises ``||X - XZ||_F^2 / 2 + lambda_1 ||Z||_1``, diag(Z) = 0, or a variant of it.

    Parameters
    ----------
    n_subspaces : int or str
        Number of distinct labels. "auto" estimates it; with ``cut="ncut"`` so does any other name in
        :data:`seqspan.cuts.ESTIMATORS`.
    n_spans : int or "auto"
        Number of spans, for ``cut="ordered"`` and ``cut="peaks"``.
    grain : {"coarse", "default", "fine"}
        For ``cut="ordered"`` if no number is given: how much has to change for a new span.
    lambda_1 : float, array of shape (n_samples,) or None
        Weight of the sparsity, one for all samples or one per sample; 0.2 by default. With
        ``noise="outliers"``, the weight of the Gaussian part of the error; None leaves it out. Not used with
        ``noise="none"``.
    lambda_2 : float or None
        Weight of the sparse part of the error; None leaves it out. Only for ``noise="outliers"``.
    noise : {"gaussian", "none", "outliers"}
        "none" requires X = XZ exactly; "outliers" minimises
        ``lambda_1 / 2 ||E||_F^2 + lambda_2 ||S||_1 + ||Z||_1`` with X = XZ + E + S.
    cut : {"ncut", "ordered", "peaks"}
        How coefficients become labels: by a normalised cut, by the best division into spans in temporal
        order, or at the peaks of the change in the coefficients.
    min_length : int
        Minimum number of samples in a span, for ``cut="ordered"``.
    normalize : bool
        Scale every sample to unit norm, as the models assume.
    preprocess : None, "auto", str or list of steps
        Steps of :mod:`seqspan.preprocess` to apply first; "auto" chooses them from the data.
    dtype : {None, "float32", "float64"}
        Precision of the solver and the cut; None keeps that of the samples.
    kind : {"table", "video", "mocap", "spectra"}
        Kind of recording in an array, for ``preprocess="auto"``; a Recording has its own.
    tol : float
        Stop when the duality gap is at most `tol` times the objective.
    max_iter : int
        Maximum number of iterations. If it is reached, a warning is issued and the result is kept.
    warm_start : bool
        Start the next ``fit`` from this solution, for example after changing a weight.
    n_jobs : int, optional
        Number of threads; all cores by default.
    random_state : int, RandomState, Generator or None
        Seed of the starts of ``cut="ncut"``. It has no effect on the other cuts, which draw nothing.
    callback : callable, optional
        Called with a :class:`seqspan.solvers.Progress` whenever the gap has been computed.
    verbose : int
        1 shows progress on standard error, 2 leaves a line for every stage.

    Attributes
    ----------
    labels_ : array of int, shape (n_samples,)
        Label of every sample.
    boundaries_ : array of int
        Interior starts: ``np.split(X, boundaries_)`` yields the spans.
    confidence_ : array of float
        Confidence in each boundary, in [0, 1].
    segmentation_ : Segmentation
        Spans, labels, confidence and everything computed along the way.
    n_subspaces_ : int
        Number of distinct labels.
    coef_ : array of shape (n_samples, n_samples)
        Z; column j represents sample j.
    objective_, dual_gap_ : float
        Value of the model at ``coef_``, and an upper bound on how far it is above the minimum, as a fraction
        of that value.
    n_iter_ : int
        Number of iterations.
    history_ : list of Progress
        Iteration, objective, gap and seconds of every certificate.
    preprocess_ : tuple of dict
        The steps that were applied, with their settings.
    n_features_in_ : int
        Number of features of the samples.

    Examples
    --------
    >>> from seqspan import SSC
    >>> from seqspan.datasets import make_subspaces
    >>> X, labels = make_subspaces(rng=0)
    >>> SSC(n_subspaces=5, random_state=0).fit(X.T).boundaries_
    array([20, 40, 60, 80])
    """
