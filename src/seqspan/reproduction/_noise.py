"""Experiments under noise: how well each method labels data as their noise grows.

The four of them differ only in their description (:class:`NoiseExperiment`): which data they load, how
the data are divided into figures, and which weights and grids they use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from seqspan._core.scaling import scale_columns
from seqspan._core.text import count_of
from seqspan._core.types import Array, IntArray
from seqspan.datasets import add_noise
from seqspan.metrics import psnr
from seqspan.reproduction._experiment import Experiment
from seqspan.reproduction._figures import draw_statistics
from seqspan.reproduction._methods import METHODS, PAPER, Weights, paper_weights, run_method
from seqspan.reproduction._rows import Case, Value, make_key
from seqspan.reproduction._summary import Known, describe_panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Mean of the coefficients of synthetic data, or None; name of a recording, or "".
Source = tuple[float | None, str]

NO_NOISE = float("inf")  # dB
LEVELS = (NO_NOISE, 30.0, 24.0, 20.0, 16.0, 13.0, 10.0, 7.0, 4.0)  # dB
COEFFICIENT_MEANS = (0.1, 0.0)  # the paper does not say; the authors' generator has 0.1
REPEATS = 50
FIRST_SEARCH_SEED = 1_000_000  # far from the seeds of the figures, which start at 0

#: The weights that the search tries, few enough to finish in minutes.
SEARCHED: dict[str, tuple[Weights, ...]] = {
    "osc": tuple(product((0.01, 0.03, 0.1, 0.2), (0.1, 0.3, 1.0, 3.0, 10.0))),
    "spatsc": tuple(product((0.03, 0.1, 0.2, 0.3), (0.003, 0.01, 0.03, 0.1, 0.3))),
    "lrr": tuple((lam, None) for lam in (0.1, 0.2, 0.4, 0.8, 1.6, 2.4, 3.2, 4.8, 6.4)),
    "ssc": tuple((lam, None) for lam in (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)),
}
SEARCHED_QUICKLY: dict[str, tuple[Weights, ...]] = {
    "osc": tuple(product((0.03, 0.1), (0.3, 1.0, 3.0))),
    "spatsc": tuple(product((0.1, 0.2), (0.01, 0.1))),
    "lrr": ((0.4, None), (1.6, None), (3.2, None)),
    "ssc": ((0.1, None), (0.2, None), (0.3, None)),
}


@dataclass(frozen=True)
class Grid:
    """What is varied.

    Parameters
    ----------
    sources : tuple of Source
        By default all of the experiment.
    levels : tuple of float
        PSNR in decibels.
    repeats : int
    variants : tuple of str
        Methods beyond the paper's four; they run with the paper's weights only.
    variant_levels : tuple of float
    variant_repeats : int
        Upper limit: variants are slow, and differ only under strong noise.
    searched : mapping of method to weights
    search_levels : tuple of float
    search_repeats : int
    """

    sources: tuple[Source, ...] = ()
    levels: tuple[float, ...] = LEVELS
    repeats: int = REPEATS
    variants: tuple[str, ...] = ()
    variant_levels: tuple[float, ...] = (13.0, 10.0, 7.0, 4.0)
    variant_repeats: int = 20
    searched: Mapping[str, tuple[Weights, ...]] = field(default_factory=lambda: SEARCHED)
    search_levels: tuple[float, ...] = (20.0, 13.0, 10.0, 7.0, 4.0)
    search_repeats: int = 4


def make_quick(grid: Grid) -> Grid:
    """Reduce a grid to a few repeats, levels and weights."""
    return replace(
        grid,
        levels=(NO_NOISE, 10.0, 4.0),
        repeats=3,
        searched=SEARCHED_QUICKLY,
        search_levels=(10.0, 4.0),
        search_repeats=2,
    )


@dataclass(frozen=True)
class Panel:
    """Data that share a figure, a section of the summary and their tuned weights.

    Parameters
    ----------
    name : str
        In the file name of the figure.
    title : str
        Of the figure; "{count}" stands for the number of recordings.
    coefficient_mean : float, optional
    recordings : tuple of str
    known : mapping of (level, method) to mean error
        Errors measured earlier with another solver.
    """

    name: str
    title: str
    coefficient_mean: float | None = None
    recordings: tuple[str, ...] = ("",)
    known: Known = field(default_factory=dict)

    @property
    def sources(self) -> tuple[Source, ...]:
        """All data of this panel."""
        return tuple((self.coefficient_mean, recording) for recording in self.recordings)

    def write_heading(self, n_recordings: int) -> str:
        """Write the heading of the section."""
        if self.coefficient_mean is None:
            return f"## {self.name}: {count_of(n_recordings, 'recording')}"
        return f"## Coefficients of mean {self.coefficient_mean:g}"

    def select(self, table: pl.DataFrame) -> pl.DataFrame:
        """Rows of this panel."""
        same_mean = pl.col("coefficient_mean").eq_missing(pl.lit(self.coefficient_mean, pl.Float64))
        return table.filter(same_mean & pl.col("recording").is_in(self.recordings))


def make_coefficient_panels(title: str, known: Mapping[float, Known]) -> tuple[Panel, ...]:
    """One panel for each mean of the coefficients."""
    return tuple(
        Panel(f"mean_{mean:g}", f"{title}, coefficients of mean {mean:g}", mean, known=known.get(mean, {}))
        for mean in COEFFICIENT_MEANS
    )


@dataclass(frozen=True)
class Problem:
    """What a method is given: unit columns, the true labels, and the noise that was reached in dB."""

    X: Array
    labels: IntArray
    psnr: float


_latest: dict[object, Problem] = {}  # the data of the previous case, which the next one often shares


@dataclass(frozen=True, kw_only=True)
class NoiseExperiment(Experiment):
    """The description of an experiment under noise.

    Parameters
    ----------
    title : str
        Of the summary.
    caveat : str
        What a reader of the summary should know about the data.
    panels : tuple of Panel
    load : callable, (source, rng, data folder) -> (clean data (d, n), labels (n,))
    seconds : float
        How long a case takes on one core.
    tol : float
        Gap at which solvers stop.
    weights : mapping of method to weights
        The paper's.
    """

    title: str
    caveat: str = ""
    panels: tuple[Panel, ...]
    load: Callable[[Source, np.random.Generator, str | None], tuple[Array, IntArray]]
    seconds: float
    tol: float = 1e-3
    weights: Mapping[str, Weights] = field(default_factory=lambda: PAPER)

    columns: ClassVar[tuple[str, ...]] = (
        "seed", "method", "parameters", "coefficient_mean", "psnr_target", "psnr", "error", "seconds", "gap",
        "lambda_1", "lambda_2", "recording", "error_linked", "error_toolbox", "objective",
    )  # fmt: skip
    case_columns: ClassVar[tuple[str, ...]] = (
        "seed", "method", "parameters", "coefficient_mean", "psnr_target", "lambda_1", "lambda_2",
        "recording",
    )  # fmt: skip
    data_columns: ClassVar[tuple[str, ...]] = ("seed", "coefficient_mean", "psnr_target", "recording")

    def require_data(self, data: str | None) -> None:
        """Load what the quick grid needs."""
        for source in self._sources(self.quick):
            self.load(source, np.random.default_rng(0), data)

    def _sources(self, grid: Grid) -> dict[Source, str]:
        """List the data of a grid, with the names of their panels."""
        sources = {source: panel.name for panel in self.panels for source in panel.sources}
        return {source: sources[source] for source in grid.sources or sources}

    def search_cases(self, grid: Grid) -> list[Case]:
        """List sources x levels x seeds x methods x weights."""
        seeds = range(FIRST_SEARCH_SEED, FIRST_SEARCH_SEED + grid.search_repeats)
        return [
            _make_case(seed, method, "search", source, level, weights)
            for source, level, seed, method in product(
                self._sources(grid), grid.search_levels, seeds, METHODS
            )
            for weights in dict.fromkeys((paper_weights(method, self.weights), *grid.searched[method]))
        ]

    def cases(self, grid: Grid, search: pl.DataFrame) -> list[Case]:
        """List every method with the paper's weights and with its best ones."""
        tuned, sources = self.tune(search), self._sources(grid)
        return [
            _make_case(seed, method, parameters, source, level, weights)
            for source, level, seed in product(sources, grid.levels, range(grid.repeats))
            for method, parameters, weights in self._contestants(grid, tuned.get(sources[source], {}))
            if method in METHODS or (level in grid.variant_levels and seed < grid.variant_repeats)
        ]

    def _contestants(self, grid: Grid, tuned: Mapping[str, Weights]) -> Iterator[tuple[str, str, Weights]]:
        """Name the methods and weights that run on the same data."""
        for method in (*METHODS, *grid.variants):
            yield method, "paper", paper_weights(method, self.weights)
        for method in METHODS:
            if method in tuned:
                yield method, "tuned", tuned[method]

    def tune(self, search: pl.DataFrame) -> dict[str, dict[str, Weights]]:
        """Choose for each method the weights of smallest mean error over all levels of the search.

        Parameters
        ----------
        search : table
            The rows of the search.

        Returns
        -------
        dict of panel to dict of method to weights
        """
        return {panel.name: _best_weights(panel.select(search)) for panel in self.panels if len(search)}

    def expected_seconds(self, case: Case) -> float:
        """Every case takes about the same time."""
        return self.seconds

    def run(self, case: Case, rng: np.random.Generator, data: str | None = None) -> dict[str, Value]:
        """Load data, add noise, scale to unit columns, minimise, cut, score."""
        data_rng, cut_rng = rng.spawn(2)  # separate, so that reusing the latest data changes nothing
        problem = self._problem(case, data, data_rng)
        weights = to_float(case["lambda_1"]) or 0.0, to_float(case["lambda_2"])
        found = run_method(str(case["method"]), problem.X, problem.labels, weights, self.tol, cut_rng)
        return {"psnr": problem.psnr, **found}

    def _problem(self, case: Case, data: str | None, rng: np.random.Generator) -> Problem:
        """Make the data of a case, unless they are those of the previous case."""
        key = self.name, data, make_key(case, self.data_columns)
        if key not in _latest:
            problem = self._make_problem(case, data, rng)
            _latest.clear()
            _latest[key] = problem
        return _latest[key]

    def _make_problem(self, case: Case, data: str | None, rng: np.random.Generator) -> Problem:
        """Unit columns, noise, unit columns again."""
        clean, labels = self.load((to_float(case["coefficient_mean"]), str(case["recording"])), rng, data)
        A = scale_columns(clean)
        X = add_noise(A, to_float(case["psnr_target"]), rng=rng)
        reached = psnr(A, X)
        X = scale_columns(X)
        if len(X) > 2 * X.shape[1]:  # the models see only X^T X, which is R^T R
            X = np.asarray(np.linalg.qr(X, mode="r"))
        return Problem(X, labels, reached)

    def draw_figures(self, table: pl.DataFrame) -> dict[str, Figure]:
        """Draw one figure per panel."""
        return {
            panel.name: draw_statistics(rows, panel.title.format(count=rows["recording"].n_unique()))
            for panel, rows in self._divide(table)
        }

    def summarise(self, table: pl.DataFrame, search: pl.DataFrame) -> str:
        """Write one section per panel."""
        tuned = self.tune(search)
        parts = [f"# {self.title}", *([self.caveat] if self.caveat else [])]
        for panel, rows in self._divide(table):
            parts.append(panel.write_heading(rows["recording"].n_unique()))
            parts += describe_panel(rows, tuned.get(panel.name, {}), panel.known)
        return "\n\n".join(parts) + "\n"

    def _divide(self, table: pl.DataFrame) -> Iterator[tuple[Panel, pl.DataFrame]]:
        """Yield the panels that have rows, with their rows."""
        for panel in self.panels:
            rows = panel.select(table)
            if not rows.is_empty():
                yield panel, rows


def _make_case(
    seed: int, method: str, parameters: str, source: Source, level: float, weights: Weights
) -> Case:
    """Name everything that a run depends on."""
    return {
        "seed": seed, "method": method, "parameters": parameters, "coefficient_mean": source[0],
        "psnr_target": level, "lambda_1": weights[0], "lambda_2": weights[1], "recording": source[1],
    }  # fmt: skip


def _best_weights(rows: pl.DataFrame) -> dict[str, Weights]:
    """Weights of smallest mean error for each method; the smaller weights win a tie."""
    means = rows.group_by("method", "lambda_1", "lambda_2").agg(pl.col("error").mean())
    best = means.sort("error", "lambda_1", "lambda_2").unique("method", keep="first", maintain_order=True)
    return {method: (lam1, lam2) for method, lam1, lam2, _ in best.iter_rows()}


def to_float(value: Value) -> float | None:
    """Take a value of a case as a number, or None.

    Examples
    --------
    >>> to_float("4"), to_float(""), to_float(None)
    (4.0, None, None)
    """
    return None if value is None or value == "" else float(value)
