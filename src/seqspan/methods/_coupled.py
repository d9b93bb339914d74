"""What OSC and SpatSC share: two weights, and a choice of solvers."""

from __future__ import annotations

from seqspan._core.checks import check_choice
from seqspan._core.types import Array
from seqspan.methods._base import Parameters
from seqspan.models.weights import choose_weights

COUPLED_SOLVERS = ("fast", "vladmap", "ladmpsap", "sylvester", "splitting")


class CoupledParameters(Parameters):
    """Of methods with a weight lambda_2 on changes over time, and a choice of solvers."""

    lambda_1: float | str
    lambda_2: float | str
    solver: str
    time_scale: int | str
    _lambda_2_fraction = 1.0

    def _solver(self) -> str:
        return check_choice("solver", self.solver, COUPLED_SOLVERS)

    def _weights(self, X: Array) -> tuple[float, float]:
        return choose_weights(X, self.lambda_1, self.lambda_2, self._lambda_2_fraction)
