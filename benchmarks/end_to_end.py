"""`seqspan segment` from a file to its report: seconds of each stage, and peak memory.

    python -m benchmarks.end_to_end film [--film FILE]          60 s of film, 640 x 360
    python -m benchmarks.end_to_end table [--rows 200000]       a CSV file with a time and 8 channels
    python -m benchmarks.end_to_end million [--sizes 100000 1000000]
                                                                62 motion-like angles in Parquet files
    python -m benchmarks.end_to_end landmarks [--rows 100000] [--landmarks 64 128 512]
                                                                boundaries found with so many landmarks

Every row of the first three is a process of its own, on as many threads as there are cores. The stages are
those that ``seqspan segment --verbose`` prints; "rest" is everything else: imports, hashes, tables, what
recognises the labels. CPU seconds are those of all threads, the decoder's included: other work on the machine
makes seconds longer, and CPU seconds much less so. "F1" is that of the boundaries within 15 samples, the
quarter of a second in which activities blend; "growth" is the exponent between two rows. Without a command,
all run at toy size.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.common import describe_machine, print_table
from benchmarks.readers import peak_memory

RATE = 25  # frames per second
SIZE = (640, 360)
N_CHANNELS = 8
MARGIN = 15  # samples
STAGES = ("reading", "preparing", "solving", "cutting", "report")


def write_film(path: Path, seconds: float) -> None:
    """Encode camera moves over photographs with noise, as the demo does, in H.264 if FFmpeg can."""
    import av
    from PIL import Image

    from seqspan.cli.demo import render

    rng = np.random.default_rng(0)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264" if "libx264" in av.codecs_available else "mpeg4", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        number = 0
        while number < seconds * RATE:
            for picture in render(rng):
                large = Image.fromarray(picture).resize(SIZE)
                container.mux(stream.encode(av.VideoFrame.from_image(large)))
                number += 1
                if number >= seconds * RATE:
                    break
        container.mux(stream.encode())


def write_table(path: Path, n_rows: int) -> None:
    """Write mixtures of motion-like angles with noise, and their times."""
    import polars as pl

    from seqspan.datasets import make_motion

    rng = np.random.default_rng(0)
    X = make_motion(n_rows, rng=1)[0]
    mixing = rng.standard_normal((N_CHANNELS, len(X))) / 8
    Y = (mixing @ X).T + 0.05 * rng.standard_normal((n_rows, N_CHANNELS))
    columns = {f"sensor_{number}": Y[:, number].round(5) for number in range(N_CHANNELS)}
    pl.DataFrame({"time_s": np.arange(n_rows) / 50} | columns).write_csv(path)


def write_motion(path: Path, n_rows: int) -> np.ndarray:
    """Write motion-like angles in single precision; returns the true boundaries."""
    import polars as pl

    from seqspan.datasets import make_motion

    X, labels = make_motion(n_rows, rng=0)
    rows = X.T.astype(np.float32)
    del X
    pl.DataFrame(rows, schema=[f"angle_{number}" for number in range(rows.shape[1])]).write_parquet(path)
    return np.flatnonzero(np.diff(labels)) + 1


def run(path: Path) -> dict[str, Any]:
    """Segment a file in a new process; returns seconds, CPU seconds of the stages, and memory."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.end_to_end", "once", str(path), folder]
        began, before = time.perf_counter(), _cpu()
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        seconds, cpu = time.perf_counter() - began, _cpu() - before
        said = json.loads(done.stdout.splitlines()[-1])
    stages = {name: said["cpu"].get(name, 0.0) for name in STAGES}
    return {
        "seconds": seconds, "CPU seconds": cpu, **stages, "rest": cpu - sum(stages.values()),
        "peak GB": said["peak"] / 1e9, "boundaries": said["boundaries"],
    }  # fmt: skip


def segment_once(path: str, folder: str) -> None:
    """Run the command line and print what the stages took; called in a separate process."""
    from seqspan._core.display import Display
    from seqspan.cli.commands import app
    from seqspan.segmentation import Segmentation

    cpu: dict[str, float] = {}
    shown = Display.stage

    @contextmanager
    def stage(display: Display, name: str) -> Iterator[None]:
        before = _cpu()
        with shown(display, name):
            yield
        cpu[name] = cpu.get(name, 0.0) + _cpu() - before

    with patch.object(Display, "stage", stage):
        app(["segment", path, "--out", folder, "--quiet"], standalone_mode=False)
    boundaries = Segmentation.load(folder).boundaries.tolist()
    print(json.dumps({"cpu": cpu, "peak": peak_memory(), "boundaries": boundaries}))


def _cpu() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    return float(sum(os.times()[:4]))


def bench_film(film: str | None, seconds: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(film or Path(folder, "film.mp4"))
        if film is None:
            write_film(path, seconds)
        found = run(path)
    _print({"film": path.name if film else f"{seconds:g} s", **found})


def bench_table(n_rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write_table(path, n_rows)
        found = run(path)
    _print({"rows": n_rows, **found})


def bench_million(sizes: list[int]) -> None:
    from seqspan.metrics import boundary_f1

    rows = []
    for n_rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "motion.parquet")
            true = write_motion(path, n_rows)
            row = {"rows": n_rows, **run(path)}
        row["F1"] = boundary_f1(true, row["boundaries"], margin=MARGIN)
        if rows:
            longer = np.log(n_rows / rows[-1]["rows"])
            row["growth"] = float(np.log(row["CPU seconds"] / rows[-1]["CPU seconds"]) / longer)
        _print(row)
        rows.append(row)


def bench_landmarks(n_rows: int, numbers: list[int]) -> None:
    from seqspan.datasets import make_motion
    from seqspan.estimators import OSC
    from seqspan.methods._defaults import table_of_defaults
    from seqspan.metrics import boundary_f1

    X, labels = make_motion(n_rows, rng=0)
    rows, true = X.T.astype(np.float32), np.flatnonzero(np.diff(labels)) + 1
    table = []
    for n_landmarks in numbers:
        before = _cpu()
        fit = OSC(**{**table_of_defaults(), "dictionary": "landmarks", "n_landmarks": n_landmarks}).fit(rows)
        table.append({
            "rows": n_rows, "landmarks": n_landmarks, "CPU seconds": _cpu() - before,
            "spans": len(fit.boundaries_) + 1, "true spans": len(true) + 1,
            "F1": boundary_f1(true, fit.boundaries_, margin=MARGIN), "iterations": fit.n_iter_,
        })  # fmt: skip
    print_table(table)


def _print(row: dict[str, Any]) -> None:
    kept = {name: value for name, value in row.items() if name != "boundaries"}
    print_table([kept | {"spans": len(row["boundaries"]) + 1}])


def main() -> None:
    if sys.argv[1:2] == ["once"]:
        segment_once(sys.argv[2], sys.argv[3])
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", nargs="?", choices=["film", "table", "million", "landmarks"])
    parser.add_argument("--film", help="a film instead of one that is rendered")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--landmarks", type=int, nargs="+", default=[64, 128, 256, 512])
    given = parser.parse_args()
    print(describe_machine())
    toy = given.command is None
    if toy or given.command == "film":
        bench_film(given.film, 3 if toy else 60)
    if toy or given.command == "table":
        bench_table(2000 if toy else given.rows or 200_000)
    if toy or given.command == "million":
        bench_million([1000, 2000] if toy else given.sizes)
    if toy or given.command == "landmarks":
        bench_landmarks(2000 if toy else given.rows or 100_000, [64, 128] if toy else given.landmarks)


if __name__ == "__main__":
    main()
