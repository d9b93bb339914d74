"""The warning that an iteration ended before it was accurate enough."""

from __future__ import annotations

import warnings


def warn_not_converged(message: str, stacklevel: int) -> None:
    """Issue scikit-learn's ConvergenceWarning, `stacklevel` calls above the caller."""
    # scikit-learn takes longer to import than the rest of seqspan, and is seldom needed here
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel + 1)
