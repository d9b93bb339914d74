"""Least-squares representation."""

from __future__ import annotations

from seqspan.estimators._base import SubspaceSegmenter
from seqspan.methods.lsr import LsrParameters


class LSR(LsrParameters, SubspaceSegmenter):
    """Least-squares representation: ridge regression of every sample on all samples, in closed form.

    Minimises ``||X - XZ||_F^2 / 2 + lambda_1 / 2 ||Z||_F^2``.

    Parameters
    ----------
    n_subspaces : int or str
        Number of distinct labels. "auto" estimates it; with ``cut="ncut"`` so does any other name in
        :data:`seqspan.cuts.ESTIMATORS`.
    n_spans : int or "auto"
        Number of spans, for ``cut="ordered"`` and ``cut="peaks"``.
    grain : {"coarse", "default", "fine"}
        For ``cut="ordered"`` if no number is given: how much has to change for a new span.
    lambda_1 : float
        Weight of the squared norm of the coefficients.
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
    >>> from seqspan import LSR
    >>> from seqspan.datasets import make_subspaces
    >>> X, labels = make_subspaces(rng=0)
    >>> LSR(n_subspaces=5, random_state=0).fit(X.T).boundaries_
    array([20, 40, 60, 80])
    """
