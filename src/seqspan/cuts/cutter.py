"""What all cuts have in common: one recording, cut as often as asked, with evidence for every answer."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from seqspan._core.backend import place_with
from seqspan._core.spans import Division
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.confidence import boundary_confidence
from seqspan.cuts.ordered.cost import GaussianCost
from seqspan.cuts.ordered.features import (
    N_FEATURES,
    coefficient_features,
    count_label_features,
    sample_features,
)
from seqspan.cuts.ordered.labels import LabelTree


class Cutter(ABC):
    """Cuts one recording into spans, as often as asked; what the answers share is computed once.

    Parameters
    ----------
    X : array of shape (d, n), or None
        Samples. Without them there is no evidence and no confidence, and no ordered cut.
    Z : array of shape (m, n)
        Their coefficients.
    joins : tuple of int
        Samples at which another recording begins.

    Examples
    --------
    >>> from seqspan.cuts import make_cutter
    >>> Z = np.kron(np.eye(3), np.ones((6, 6)))
    >>> cutter = make_cutter("peaks", None, Z)
    >>> cutter.cut().boundaries, cutter.cut(n_spans=2).labels
    (array([ 6, 12]), array([0, 1]))
    """

    _n_jobs: int | None = 1  # number of threads that features are computed on

    def __init__(self, X: Array | None, Z: Array, joins: tuple[int, ...] = ()) -> None:
        self._X, self._Z, self.joins = X, Z, joins
        self._trees: dict[bytes, LabelTree] = {}

    @abstractmethod
    def cut(
        self, n_spans: int | str = "auto", n_subspaces: int | str = "auto", grain: str = "default"
    ) -> Division:
        """Divide the recording into spans and label them.

        Parameters
        ----------
        n_spans : int or "auto"
        n_subspaces : int or str
            Number of labels, "auto", or for the normalised cut the name of an estimator of it.
        grain : {"coarse", "default", "fine"}
            For the ordered cut: how much has to change for a new span.

        Returns
        -------
        Division
        """

    def share_labels(self, division: Division, reach: int) -> Division:
        """Let more spans share a label if samples around changes say that they differ, and others do not.

        Parameters
        ----------
        division : Division
        reach : int
            Number of samples before and after a sample that preprocessing put beside it.

        Returns
        -------
        Division
            The same spans.
        """
        return division

    @cached_property
    def cost(self) -> GaussianCost:
        """What spans cost."""
        looks = self._looks[:, :N_FEATURES]
        return GaussianCost([looks, coefficient_features(self._Z, n_jobs=self._n_jobs)])

    @property
    def features(self) -> Array:
        """What samples look like (n, p): confidence is found by these alone."""
        return self.cost.views[0]

    @property
    def label_features(self) -> Array:
        """The same, more or fewer of them: labels are found by these alone."""
        return self._looks[:, : self._n_label_features]

    @cached_property
    def _looks(self) -> Array:
        """What samples look like, in as many features as anything needs; where the coefficients are."""
        if self._X is None:
            raise ValueError("The cost of spans needs the samples X as well as Z; got X=None.")
        count = max(N_FEATURES, self._n_label_features)
        return sample_features(place_with(self._Z, self._X), count, n_jobs=self._n_jobs)

    @property
    def _n_label_features(self) -> int:
        return count_label_features(0 if self._X is None else len(self._X))

    def confidence(self, boundaries: IntArray) -> Array:
        """How sure each boundary is, in [0, 1]; NaN where another recording begins."""
        starts = np.union1d(boundaries, np.array(self.joins, dtype=np.intp))
        confidence = boundary_confidence(self.features, starts)
        confidence[np.isin(starts, self.joins)] = np.nan
        return confidence[np.searchsorted(starts, boundaries)]

    def label_tree(self, boundaries: IntArray) -> LabelTree:
        """How the spans between boundaries merge into groups that share a label."""
        key = boundaries.tobytes()
        if key not in self._trees:
            self._trees[key] = LabelTree(self.label_features, boundaries, self.joins, self._n_jobs)
        return self._trees[key]


def copy_generator(rng: np.random.Generator | int | None) -> np.random.Generator:
    """Copy a generator, or make one from a seed: the same cut then always gives the same answer."""
    return copy.deepcopy(np.random.default_rng(rng))


def check_auto(name: str, given: int | str) -> None:
    """Refuse words other than "auto"."""
    if isinstance(given, str) and given != "auto":
        raise ValueError(f"{name} must be an int or 'auto' for this cut; got {given!r}.")
