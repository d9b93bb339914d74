"""Rows as tables: read, reduced to the statistics of the figures, written as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from seqspan.reproduction.sweep import Case, Row, key_of

TEXTS = ("method", "parameters", "recording")
STATISTICS = ("mean", "median", "min", "max")


def table_of(rows: Iterable[Row], columns: Sequence[str]) -> pl.DataFrame:
    """Turn rows of text into a table; what is no text is a number, and empty where there is none.

    Parameters
    ----------
    rows : iterable of mappings
    columns : sequence of str

    Returns
    -------
    polars.DataFrame

    Examples
    --------
    >>> table_of([{"method": "osc", "error": "0.5"}], ("method", "error")).row(0)
    ('osc', 0.5)
    """
    table = pl.DataFrame(list(rows), schema=dict.fromkeys(columns, pl.String))
    numbers = [name for name in columns if name not in TEXTS]
    return table.with_columns(pl.col(numbers).replace("", None).cast(pl.Float64))


def rows_of(cases: Iterable[Case], rows: Mapping[tuple[str, ...], Row], names: Sequence[str]) -> list[Row]:
    """Pick the rows of a grid, in its order; rows of other grids in the same file stay out."""
    keys = dict.fromkeys(key_of(case, names) for case in cases)
    return [rows[key] for key in keys if key in rows]


def statistics(table: pl.DataFrame, column: str = "error") -> pl.DataFrame:
    """Reduce to the paper's four statistics, for every line of its figures and every level.

    Parameters
    ----------
    table : rows with method, parameters, psnr_target and an error
    column : str

    Returns
    -------
    polars.DataFrame
        With "mean", "median", "min", "max", "se" (standard error of the mean) and "count", from low noise
        to strong.
    """
    error = pl.col(column)
    return (
        table.group_by("method", "parameters", "psnr_target")
        .agg(
            mean=error.mean(), median=error.median(), min=error.min(), max=error.max(),
            se=error.std().fill_null(0.0) / pl.len().sqrt(), count=pl.len(),
        )
        .sort("psnr_target", "method", descending=[True, False])
    )  # fmt: skip


def level_name(level: float) -> str:
    """Name a noise level.

    Examples
    --------
    >>> level_name(4.0), level_name(float("inf"))
    ('4 dB', 'none')
    """
    return f"{level:g} dB" if np.isfinite(level) else "none"


def markdown(heads: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Write a table in Markdown.

    Examples
    --------
    >>> print(markdown(["method", "4 dB"], [["osc", "0.001"]]))
    | method | 4 dB |
    |---|---|
    | osc | 0.001 |
    """
    rows = [heads, *lines]
    text = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join([text[0], "|" + "---|" * len(heads), *text[1:]])


def error_table(table: pl.DataFrame, parameters: str, methods: Sequence[str], column: str = "error") -> str:
    """Write the mean error of every method at every level."""
    found = statistics(table.filter(pl.col("parameters") == parameters), column)
    levels = sorted(set(found["psnr_target"]), reverse=True)
    means = {(row["method"], row["psnr_target"]): row["mean"] for row in found.iter_rows(named=True)}
    lines = [
        [method, *(f"{means[method, level]:.3f}" if (method, level) in means else "" for level in levels)]
        for method in methods
        if any((method, level) in means for level in levels)
    ]
    return markdown(["mean error", *map(level_name, levels)], lines)
