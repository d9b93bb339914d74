"""Spatial subspace clustering."""

from __future__ import annotations

from seqspan.estimators._coupled import Coupled
from seqspan.methods.spatsc import SpatScParameters


class SpatSC(SpatScParameters, Coupled):
    """Spatial subspace clustering: sparse coefficients, each of which rarely changes over time.

    Minimises ``||X - XZ||_F^2 / 2 + lambda_1 ||Z||_1 + lambda_2 ||ZR||_1``, diag(Z) = 0
    [paper, Eq. YiGuo1].

    Parameters
    ----------
    n_subspaces : int or str
        Number of distinct labels. "auto" estimates it; with ``cut="ncut"`` so does any other name in
        :data:`seqspan.cuts.ESTIMATORS`.
    n_spans : int or "auto"
        Number of spans, for ``cut="ordered"`` and ``cut="peaks"``.
    grain : {"coarse", "default", "fine"}
        For ``cut="ordered"`` if no number is given: how much has to change for a new span.
    lambda_1 : float or "auto"
        Weight of the sparsity. "auto" is a tenth of the largest squared norm of a sample; for samples of unit
        norm this is the paper's 0.1.
    lambda_2 : float or "auto"
        Weight of changes over time, entry by entry. "auto" is a hundredth of the largest squared norm of a
        sample; for samples of unit norm this is the paper's 0.01.
    solver : {"fast", "vladmap", "ladmpsap", "sylvester", "splitting"}
        All reach the same minimum: "vladmap" and "ladmpsap" are the paper's relaxed and exact algorithms,
        "sylvester" is the CVPR 2014 algorithm.
    cut : {"ncut", "ordered", "peaks"}
        How coefficients become labels: by a normalised cut, by the best division into spans in temporal
        order, or at the peaks of the change in the coefficients.
    min_length : int
        Minimum number of samples in a span, for ``cut="ordered"``.
    kernel : {"linear", "cosine", "rbf"} or callable
        Represent the samples as they are, or in the feature space of a kernel.
    zero_diagonal : bool
        Keep samples from representing themselves. It does not apply to landmarks.
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
    stopping : {"gap", "published"}
        "published" stops by the rule in the solver's paper and reports the gap reached.
    max_iter : int
        Maximum number of iterations. If it is reached, a warning is issued and the result is kept.
    warm_start : bool
        Start the next ``fit`` from this solution, for example after changing a weight.
    dictionary : {"samples", "landmarks", "auto"}, or array of shape (n_atoms, n_features)
        What represents the samples: all samples, as in the paper, or `n_landmarks` landmarks, so that memory
        and time grow with n instead of n^2. Above 10,000 samples, "auto" uses landmarks and warns about it.
        An array holds atoms of your own, one per row, in the features of the samples; it needs
        ``preprocess=None``.
    n_landmarks : int or "auto"
        Number of landmarks, for ``dictionary="landmarks"`` and "auto". "auto" is 512 up to 50,000 samples,
        and fewer for more: 128 from 200,000 on.
    time_scale : int or "auto"
        For `partial_fit` only: number of samples over which neighbours say the same; four places for
        boundaries are tried in it. "auto" finds it out while samples arrive.
    device : {"cpu", "cuda"}
        "cuda" solves and cuts on an NVIDIA GPU. CuPy arrays in give CuPy arrays out.
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
        Z; column j represents sample j. (n_landmarks, n_samples) with landmarks.
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
    lambda_1_, lambda_2_ : float
        The weights, chosen from the data if they were "auto".
    dictionary_ : {"samples", "landmarks", "given"}
        What represents the samples.
    landmarks_ : array of shape (n_landmarks, n_features)
        The landmarks, if there are any.

    Examples
    --------
    >>> from seqspan import SpatSC
    >>> from seqspan.datasets import make_subspaces
    >>> X, labels = make_subspaces(rng=0)
    >>> SpatSC(n_subspaces=5, random_state=0).fit(X.T).boundaries_
    array([20, 40, 60, 80])
    """
