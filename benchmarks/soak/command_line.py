"""The command line against the library: the same file must give the same spans."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from typer.testing import CliRunner

import seqspan
from benchmarks.soak.cases import Case
from seqspan.cli import app

EVERY = 50  # fits; the samples of one of them go through the command line


def other_than_command_line(case: Case) -> Iterator[str]:
    """Write the samples to a file, segment it in both ways with the defaults, and yield what differs."""
    if case.seed % EVERY != 7:
        return
    with TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path, folder = Path(name) / "samples.npy", Path(name) / "out"
        np.save(path, np.asarray(case.X))
        result = CliRunner().invoke(app, ["segment", str(path), "--out", str(folder), "--quiet"])
        if result.exit_code:
            yield f"the command line fails with status {result.exit_code}: {result.output.strip()}"
            return
        with (folder / "segments.csv").open() as file:
            rows = list(csv.DictReader(file))
        written = [tuple(int(row[name]) for name in ("start", "end", "label")) for row in rows]
        found = [(span.start, span.end, span.label) for span in seqspan.segment(path).spans]
    if written != found:
        yield f"the command line writes {written}, the library finds {found}"
