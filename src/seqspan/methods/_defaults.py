"""The defaults that ``seqspan.segment`` and the command line share."""

from __future__ import annotations

import inspect
from typing import Any

from seqspan._core.checks import check_choice
from seqspan.methods._base import Parameters
from seqspan.methods._coupled import CoupledParameters
from seqspan.methods.lrr import LrrParameters
from seqspan.methods.lsr import LsrParameters
from seqspan.methods.osc import OscParameters
from seqspan.methods.spatsc import SpatScParameters
from seqspan.methods.ssc import SscParameters

#: Parameters by the names of methods, as on the command line.
METHODS: dict[str, type[Parameters]] = {
    "osc": OscParameters,
    "spatsc": SpatScParameters,
    "ssc": SscParameters,
    "lrr": LrrParameters,
    "lsr": LsrParameters,
}

# single precision halves memory and time, and the gap is still certified
DEFAULTS = {"cut": "ordered", "preprocess": "auto", "dtype": "float32", "random_state": 0}
COUPLED_DEFAULTS = {"lambda_1": "auto", "lambda_2": "auto", "dictionary": "auto"}


def table_of_defaults(method: str = "osc") -> dict[str, Any]:
    """Return the defaults that ``seqspan.segment`` and the command line share.

    Parameters
    ----------
    method : str
        A name in :data:`METHODS`.

    Returns
    -------
    dict
        Keyword arguments: ``OSC(**table_of_defaults())`` gives the same results as ``seqspan.segment``.
        Parameters that are not listed keep the estimator's own default, as in the paper.

    Examples
    --------
    >>> table_of_defaults("lrr")
    {'cut': 'ordered', 'preprocess': 'auto', 'dtype': 'float32', 'random_state': 0}
    """
    return {**DEFAULTS, **(COUPLED_DEFAULTS if issubclass(find_method(method), CoupledParameters) else {})}


def find_method(method: str) -> type[Parameters]:
    """The parameters of the method with this name."""
    return METHODS[check_choice("method", method, METHODS)]


def complete(method: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of a method, with those that were not given from the table of defaults."""
    known = list(inspect.signature(find_method(method)).parameters)
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise ValueError(f"the method {method!r} takes {', '.join(known)}; got {', '.join(unknown)}.")
    return {**table_of_defaults(method), **settings}


def make_parameters(method: str = "osc", **settings: Any) -> Parameters:
    """Make the parameters of a method from the table of defaults, with some of them replaced.

    Examples
    --------
    >>> make_parameters("osc", tol=1e-3).stages()[0].stopping.tol
    0.001
    """
    return find_method(method)(**complete(method, settings))
