"""What OSC and SpatSC share: two weights, and landmarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

import numpy.typing as npt
from sklearn.base import clone

from seqspan.estimators._partial_fit import PartialFit
from seqspan.methods._coupled import CoupledParameters
from seqspan.representation import Representation


class Coupled(CoupledParameters, PartialFit):
    """Estimators with a weight lambda_2 on changes over time, and a choice of solvers."""

    def _keep_model(self, found: Representation) -> None:
        self.lambda_1_, self.lambda_2_ = found.model.lam1, found.model.lam2
        named = isinstance(self.dictionary, str)
        self.dictionary_ = "samples" if found.landmarks is None else "landmarks" if named else "given"
        if found.landmarks is not None:
            self.landmarks_ = found.landmarks.T

    def path(self, X: npt.ArrayLike, lambda_2: Sequence[float]) -> Iterator[Self]:
        """Fit a sequence of weights lambda_2, each starting from the previous solution.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        lambda_2 : sequence of float
            Neighbouring values should be close, so that each fit takes only a few iterations.

        Yields
        ------
        estimator
            Fitted with the next weight. It is the same object every time, so copy what you want to keep.

        Examples
        --------
        >>> from seqspan import OSC
        >>> from seqspan.datasets import make_subspaces
        >>> X, labels = make_subspaces(3, 2, 20, 10, rng=0)
        >>> [len(osc.boundaries_) for osc in OSC(3, random_state=0).path(X.T, [0.5, 1.0])]
        [2, 2]
        """
        estimator = clone(self).set_params(warm_start=True)
        for weight in lambda_2:
            yield estimator.set_params(lambda_2=weight).fit(X)
