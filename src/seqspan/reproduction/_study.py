"""What the experiments against noise share: their cases, one run, and the search for better weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import polars as pl

from seqspan._core.checks import scale_columns
from seqspan._core.types import Array, IntArray
from seqspan.datasets import add_noise
from seqspan.metrics import psnr
from seqspan.reproduction._methods import METHODS, PAPER, Weights, paper_weights, run_method
from seqspan.reproduction.sweep import Case, Value, key_of

PARAMETERS = (
    "seed", "method", "parameters", "coefficient_mean", "psnr_target", "lambda_1", "lambda_2", "recording",
)  # fmt: skip
COLUMNS = (
    "seed", "method", "parameters", "coefficient_mean", "psnr_target", "psnr", "error", "seconds", "gap",
    "lambda_1", "lambda_2", "recording", "error_linked", "error_toolbox", "objective",
)  # fmt: skip
DRAWN_BY = ("seed", "coefficient_mean", "psnr_target", "recording")

NONE = float("inf")  # the PSNR of data without noise
LEVELS = (NONE, 30.0, 24.0, 20.0, 16.0, 13.0, 10.0, 7.0, 4.0)
REPEATS = 50
FIRST_SEARCH_SEED = 1_000_000  # seeds of the search and of the evaluation never meet

#: The weights that the search tries, coarse enough to be over in minutes.
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
    sources : tuple of (coefficient mean or None, recording or "")
        The kinds of data.
    levels : tuple of float
        PSNR targets in decibels.
    repeats : int
    variants : tuple of str
        Methods beside the paper's four, with the paper's weights alone.
    variant_levels : tuple of float
    variant_repeats : int
        At most; variants are slow, and differ under strong noise alone.
    searched : mapping of method to weights
    search_levels : tuple of float
    search_repeats : int
    """

    sources: tuple[tuple[float | None, str], ...]
    levels: tuple[float, ...] = LEVELS
    repeats: int = REPEATS
    variants: tuple[str, ...] = ()
    variant_levels: tuple[float, ...] = (13.0, 10.0, 7.0, 4.0)
    variant_repeats: int = 20
    searched: Mapping[str, tuple[Weights, ...]] | None = None
    search_levels: tuple[float, ...] = (20.0, 13.0, 10.0, 7.0, 4.0)
    search_repeats: int = 4

    def with_repeats(self, repeats: int) -> Grid:
        """Change the number of repeats, keeping the search."""
        return replace(self, repeats=repeats)


def quick(grid: Grid) -> Grid:
    """Reduce a grid to a few repeats, levels and weights."""
    return replace(
        grid,
        levels=(NONE, 10.0, 4.0),
        repeats=3,
        searched=SEARCHED_QUICKLY,
        search_levels=(10.0, 4.0),
        search_repeats=2,
    )


Line = tuple[float | None, str, str]  # coefficient mean, pool of recordings, method
Source = Callable[[Case, np.random.Generator, str | None], tuple[Array, IntArray]]


@dataclass(frozen=True)
class Study:
    """An experiment against noise.

    Parameters
    ----------
    draw : callable, (case, rng, data folder) -> (clean data (d, n), labels)
    tol : float
        Gap to solve to.
    weights : mapping
        The paper's table.
    pool : callable, recording -> str
        Recordings with the same name here share tuned weights, and a figure.
    """

    draw: Source
    tol: float = 1e-3
    weights: Mapping[str, Weights] | None = None
    pool: Callable[[str], str] = lambda recording: recording

    def paper(self, method: str) -> Weights:
        """Return the paper's weights of a method."""
        return paper_weights(method, dict(self.weights or PAPER))

    def search_cases(self, grid: Grid) -> list[Case]:
        """List the cases of the search: weights x levels x sources, on seeds of their own."""
        searched = grid.searched if grid.searched is not None else SEARCHED
        seeds = range(FIRST_SEARCH_SEED, FIRST_SEARCH_SEED + grid.search_repeats)
        return [
            _case(seed, method, "search", source, level, weights)
            for source, level, seed, method in product(grid.sources, grid.search_levels, seeds, METHODS)
            for weights in dict.fromkeys((self.paper(method), *searched[method]))
        ]

    def cases(self, grid: Grid, search: pl.DataFrame) -> list[Case]:
        """List the cases of the figures: every method with the paper's weights and with its best."""
        tuned = self.tuned(search)
        return [
            _case(seed, method, parameters, source, level, weights)
            for source, level, seed in product(grid.sources, grid.levels, range(grid.repeats))
            for method, parameters, weights in self._lines(grid, source, tuned)
            if method in METHODS or (level in grid.variant_levels and seed < grid.variant_repeats)
        ]

    def _lines(
        self, grid: Grid, source: tuple[float | None, str], tuned: Mapping[Line, Weights]
    ) -> Iterator[tuple[str, str, Weights]]:
        """Name the methods and weights that one draw is given to."""
        for method in (*METHODS, *grid.variants):
            yield method, "paper", self.paper(method)
        for method in METHODS:
            found = tuned.get((source[0], self.pool(source[1]), method))
            if found is not None:
                yield method, "tuned", found

    def tuned(self, search: pl.DataFrame) -> dict[Line, Weights]:
        """Choose each method's weights of smallest mean error over all levels searched.

        Parameters
        ----------
        search : table of the search's rows

        Returns
        -------
        dict of (coefficient mean, pool, method) to weights
        """
        if search.is_empty():
            return {}
        pooled = search.with_columns(pool=pl.col("recording").map_elements(self.pool, return_dtype=pl.String))
        names = ["coefficient_mean", "pool", "method"]
        means = pooled.group_by(*names, "lambda_1", "lambda_2").agg(pl.col("error").mean())
        # ties go to the smaller weights, whatever the order of the rows
        best = means.sort("error", "lambda_1", "lambda_2").unique(names, keep="first", maintain_order=True)
        return {
            (row["coefficient_mean"], row["pool"], row["method"]): (row["lambda_1"], row["lambda_2"])
            for row in best.iter_rows(named=True)
        }

    def run(self, case: Case, rng: np.random.Generator, data: str | None) -> dict[str, Value]:
        """Draw data, add noise, scale to unit columns, minimise, cut, score.

        Parameters
        ----------
        case : mapping
        rng : numpy.random.Generator
        data : str or None
            Folder of the real data sets.

        Returns
        -------
        dict
            The results of the case, without its parameters.
        """
        data_rng, cut_rng = rng.spawn(2)  # apart, so that data kept from the case before change nothing
        problem = self._problem(case, data, data_rng)
        weights = number(case["lambda_1"]) or 0.0, number(case["lambda_2"])
        found = run_method(str(case["method"]), problem.X, problem.labels, weights, self.tol, cut_rng)
        return {"psnr": problem.psnr, **found}

    def _problem(self, case: Case, data: str | None, rng: np.random.Generator) -> Problem:
        """Make the noisy data of a case, or take those of the case before, if they are the same."""
        key = (id(self), data, key_of(case, DRAWN_BY))
        problem = _last.get(key)
        if problem is None:
            problem = self._make(case, data, rng)
            _last.clear()
            _last[key] = problem
        return problem

    def _make(self, case: Case, data: str | None, rng: np.random.Generator) -> Problem:
        """Unit columns, noise, unit columns again."""
        clean, labels = self.draw(case, rng, data)
        A = scale_columns(clean)
        X = add_noise(A, number(case["psnr_target"]), rng=rng)
        reached = psnr(A, X)
        X = scale_columns(X)
        if len(X) > 2 * X.shape[1]:  # all that the models see of X is X^T X, which is R^T R
            X = np.asarray(np.linalg.qr(X, mode="r"))
        return Problem(X, labels, reached)


@dataclass(frozen=True)
class Problem:
    """What the methods are given: X with unit columns, the truth, and the noise there is."""

    X: Array
    labels: IntArray
    psnr: float


_last: dict[object, Problem] = {}


def number(value: Value) -> float | None:
    """Take a parameter as a number, or None.

    Examples
    --------
    >>> number("4"), number(""), number(None)
    (4.0, None, None)
    """
    return None if value is None or value == "" else float(value)


def _case(
    seed: int, method: str, parameters: str, source: tuple[float | None, str], level: float, weights: Weights
) -> Case:
    """Name everything that a run depends on."""
    values = seed, method, parameters, source[0], level, *weights, source[1]
    return dict(zip(PARAMETERS, values, strict=True))
