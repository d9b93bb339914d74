"""What every experiment of the paper offers to the code that runs it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from seqspan.reproduction._rows import Case, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Experiment(ABC):
    """A grid of cases, how to run one of them, and what to make of the rows.

    Parameters
    ----------
    name : str
        On the command line and in the names of the result files.
    full, quick : dataclass with a field ``repeats``
        The grid of cases, and one that takes a minute or two.
    """

    name: str
    full: Any
    quick: Any

    #: The columns of a row, those that identify its case, and those that determine the data of the case.
    columns: ClassVar[tuple[str, ...]]
    case_columns: ClassVar[tuple[str, ...]]
    data_columns: ClassVar[tuple[str, ...]]
    #: Whether cases must run one at a time, because their time is measured.
    runs_alone: ClassVar[bool] = False

    def require_data(self, data: str | None) -> None:  # noqa: B027 - most need no files
        """Raise an error if data sets are missing from the folder `data`."""

    def search_cases(self, grid: Any) -> list[Case]:
        """List the cases of the search for better weights, if there is one."""
        return []

    @abstractmethod
    def cases(self, grid: Any, search: pl.DataFrame) -> list[Case]:
        """List the cases of the figures, given the rows of the search."""

    @abstractmethod
    def expected_seconds(self, case: Case) -> float:
        """Estimate how long a case takes on one core."""

    @abstractmethod
    def run(self, case: Case, rng: np.random.Generator, data: str | None = None) -> dict[str, Value]:
        """Compute the columns of a row that do not identify its case."""

    @abstractmethod
    def draw_figures(self, table: pl.DataFrame) -> dict[str, Figure]:
        """Draw the figures, by name."""

    @abstractmethod
    def summarise(self, table: pl.DataFrame, search: pl.DataFrame) -> str:
        """Say in Markdown where the rows agree with the paper and where they do not."""
