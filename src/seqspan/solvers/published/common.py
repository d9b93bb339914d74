"""What the published algorithms share: the paper's constants, and what they can be applied to.

gamma, mu_max and the tolerances are not in the paper's text; mu = 1 is from its table of parameters.
"""

from __future__ import annotations

from seqspan.models import Coupling, Model
from seqspan.models.terms import Squares
from seqspan.solvers.loop import Stopping

MU = 1.0
MU_MAX = 1e6
GAMMA = 1.1
TOLERANCE = 1e-4


def require_coupling(model: Model, solver: str) -> Coupling:
    """Return the model's coupling, or say why the solver cannot be used."""
    if model.coupling is None:
        raise ValueError(f"{solver} solves models that couple columns; {type(model).__name__} does not.")
    return model.coupling


def require_squares(model: Model, solver: str) -> None:
    """Refuse models whose fit is not half the squared residual."""
    if model.loss != Squares():
        raise ValueError(f"{solver} needs the loss ||X - XZ||_F^2 / 2; {type(model).__name__} has another.")


def penalty_growth(stopping: Stopping) -> float:
    """Factor by which mu may grow: the published one with the published rule, none with a certificate.

    A growing penalty settles the iterates before they are optimal (on the paper's synthetic data the
    gap stalls at 1e-4 to 4e-3); with mu = 1 throughout they reach any gap.
    """
    return GAMMA if stopping.published else 1.0
