"""What a worker holds: some of the atoms, their rows of the solver's state, and the passes over them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from seqspan._core.threads import Team
from seqspan._core.types import Array
from seqspan.models import Osc, SpatSc
from seqspan.solvers.fast.reduced import Reduced
from seqspan.solvers.fast.sweeps import State, Sweeps


class AtomRows:
    """A Dask actor: the passes of :class:`seqspan.solvers.fast.sweeps.Sweeps` over part of the atoms.

    Penalties and the norms of whole columns are passed with every call, because a worker has only its own
    rows.

    Parameters
    ----------
    model : Osc or SpatSc
    n : int
        Number of samples.
    first_atom : int
        Index of the first atom of this part.
    n_jobs : int
    """

    def __init__(self, model: Osc | SpatSc, n: int, first_atom: int, n_jobs: int) -> None:
        self._model, self._n, self._first_atom = model, n, first_atom
        self._team = Team(n_jobs)
        self._team.__enter__()  # for as long as the actor lives

    def begin(self, Q: Array, sigma: Array, kept: str | None) -> Array:
        """Start from the atoms' coordinates Q (m, r) and a saved state or zeros; returns the norms of U."""
        unused = np.broadcast_to(np.zeros(1, Q.dtype), (self._n, sigma.size))
        self._sweeps = Sweeps(self._model, Reduced(sigma, Q, unused), self._team, self._first_atom)
        self._state = self._sweeps.zero_state(1.0, 1.0)
        self._state.fitted = np.empty(0)  # only the coordinator needs it
        if kept is not None:
            with np.load(kept) as file:
                self._state.V[:], self._state.U[:] = file["V"], file["U"]
            self._sweeps.settle(self._state)
        return self._norms(self._state.norms)

    def project(self, norms: Array, r1: float, r2: float) -> Array:
        """Compute this part of ``Q^T F``, (n, r)."""
        return self._sweeps.project_right_side(self._at(norms, r1, r2))

    def update(self, correction: Array, measure: bool) -> tuple[Array, Array]:
        """Update V and U; returns this part of the norms of U and of the residuals."""
        norms, residuals = self._sweeps.update(self._state, correction, measure)
        return self._norms(norms), residuals

    def shrink_multipliers(
        self, norms: Array, r1: float, r2: float, drop_1: float, drop_2: float | Array
    ) -> Array:
        """Subtract a share of both multipliers; returns this part of the norms of U."""
        state = self._at(norms, r1, r2)
        return self._norms(self._sweeps.shrink_multipliers(state, drop_1, drop_2))

    def evaluate(self, norms: Array, r1: float, r2: float) -> tuple[Array, Array, Array]:
        """Compute this part of ``||Z||_1``, of the norms of ZR and of ``Q^T Z``."""
        return self._sweeps.evaluate(self._at(norms, r1, r2))

    def tighten(
        self, norms: Array, r1: float, r2: float, scaled: Array, bands: Array, project: bool
    ) -> tuple[Array, Array, Array, Array]:
        """Compute this part's contribution to the lower bound."""
        return self._sweeps.tighten(self._at(norms, r1, r2), scaled, bands, project=project)

    def coefficients(self, norms: Array, r1: float, r2: float, averaged: bool) -> Array:
        """Return these rows of Z, or of its means over runs."""
        self._state.averaged = averaged
        return self._sweeps.coefficients(self._at(norms, r1, r2))

    def keep(self, file: str) -> None:
        """Save the state; the file appears only once it is complete."""
        partial = Path(f"{file}.partial.npz")
        np.savez(partial, V=self._state.V, U=self._state.U)
        os.replace(partial, file)

    def _at(self, norms: Array, r1: float, r2: float) -> State:
        """The state, updated with the values that all parts share."""
        self._state.norms, self._state.r1, self._state.r2 = norms, r1, r2
        return self._state

    def _norms(self, norms: Array) -> Array:
        """The norms, or an empty array for SpatSC, which does not need them."""
        return np.empty(0) if self._sweeps.entrywise else norms
