"""What the published algorithms share: the paper's constants, and checks of the model.

The paper does not give gamma, mu_max or the tolerances; mu = 1 is from its table of parameters.
"""

from __future__ import annotations

from seqspan.models import Coupling, Model
from seqspan.models.terms import Squares
from seqspan.solvers.loop import Stopping

MU = 1.0  # initial penalty
MU_MAX = 1e6  # largest penalty
GAMMA = 1.1  # factor by which the penalty grows
SETTLED_CHANGE = 1e-4  # change per iteration below which the published rule stops


def require_coupling(model: Model, solver: str) -> Coupling:
    """Return the model's coupling; raise a ValueError if it has none."""
    if model.coupling is None:
        raise ValueError(f"{solver} solves models that couple columns; {type(model).__name__} does not.")
    return model.coupling


def require_squares(model: Model, solver: str) -> None:
    """Raise a ValueError unless the loss is half the squared residual."""
    if model.loss != Squares():
        raise ValueError(f"{solver} needs the loss ||X - XZ||_F^2 / 2; {type(model).__name__} has another.")


def penalty_growth(stopping: Stopping) -> float:
    """Factor by which mu may grow: as published with the published stopping rule, otherwise 1.

    A growing penalty freezes the iterates before they are optimal: on the paper's synthetic data the gap
    stalls at 1e-4 to 4e-3. With constant mu = 1 they reach any gap.
    """
    return GAMMA if stopping.published else 1.0
