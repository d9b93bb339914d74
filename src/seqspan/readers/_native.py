"""Native parsers, run as a script: in their own process and with limited memory.

A damaged file can make such a parser crash, hang or allocate without bound. That ends this script, not its
caller. The script imports nothing from seqspan, so that it starts fast, and returns plain arrays.

Usage: python -P _native.py TASK FILE OUT_FOLDER ARGUMENTS_AS_JSON
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

STAMP = r"\d[:./-]\d|[A-Za-z]{3} \d"  # somewhere in a date, or a time of day
FIRST = 100  # cells that show what a column of text may be
Arrays = dict[str, npt.NDArray[Any]]
Result = tuple[Arrays, dict[str, Any]]


def read_c3d(path: Path, max_bytes: int) -> Result:
    """Read the markers and rotations of a C3D file."""
    import ezc3d

    recording = ezc3d.c3d(str(path))
    data, parameters = recording["data"], recording["parameters"]
    # ezc3d marks a marker that is out of sight with NaN.
    arrays = {"points": data["points"][:3], "rotations": data["rotations"]}
    about = {
        "labels": _parameter(parameters, "POINT", "LABELS"),
        "units": _parameter(parameters, "POINT", "UNITS"),
        "rotation_labels": _parameter(parameters, "ROTATION", "LABELS"),
        "point_rate": float(recording["header"]["points"]["frame_rate"]),
        "rotation_rate": [float(rate) for rate in _parameter(parameters, "ROTATION", "RATE")],
        "n_analogs": int(data["analogs"].shape[1]),
    }
    return arrays, about


def _parameter(parameters: Any, group: str, name: str) -> list[Any]:
    """Return the values of a parameter, or none if the file does not have it."""
    return list(parameters[group][name]["value"]) if group in parameters and name in parameters[group] else []


def list_hdf5(path: Path, max_bytes: int, by_columns: bool) -> Result:
    """List the numeric variables of an HDF5 file, with the shapes that MATLAB shows of its own."""
    import h5py

    with h5py.File(path, "r") as file:
        shapes = {
            name: list(reversed(item.shape) if by_columns else item.shape)
            for name, item in file.items()
            if isinstance(item, h5py.Dataset) and item.dtype.kind in "iufb" and item.ndim
        }
    return {}, {"shapes": shapes}


def read_hdf5(path: Path, max_bytes: int, names: list[str], by_columns: bool) -> Result:
    """Read variables of an HDF5 file."""
    import h5py

    arrays: Arrays = {}
    with h5py.File(path, "r") as file:
        for name in names:
            item = file[name]
            check_size(int(np.prod(item.shape, dtype=object)) * item.dtype.itemsize, max_bytes)
            arrays[name] = item[()].T if by_columns else item[()]  # MATLAB stores columns first
    return arrays, {}


def read_columns(path: Path, max_bytes: int, labels: str | None = None) -> Result:
    """Read columns of numbers, dates and times of a Parquet or Feather file, and the names of the others."""
    import polars as pl

    is_parquet = path.open("rb").read(4) == b"PAR1"
    # A name such as a[1].feather is not a pattern. scan_ipc has no glob= before polars 1.35, but takes bytes.
    scan = pl.scan_parquet(path, glob=False) if is_parquet else pl.scan_ipc(io.BytesIO(path.read_bytes()))
    schema = scan.collect_schema()
    n_rows = int(scan.select(pl.len()).collect().item())
    durations = [name for name, kind in schema.items() if kind == pl.Duration]
    numeric = [
        name for name, kind in schema.items() if kind.is_numeric() or kind == pl.Boolean or name in durations
    ]
    temporal = [name for name, kind in schema.items() if kind in (pl.Datetime, pl.Date)]
    clocks = [name for name, kind in schema.items() if kind == pl.Time]
    check_size(n_rows * (len(numeric) + len(temporal) + len(clocks)) * 8, max_bytes)
    ticks = {name: pl.col(name).dt.total_nanoseconds() for name in durations}
    table = scan.select([ticks.get(name, pl.col(name)).cast(pl.Float64) for name in numeric]).collect()
    arrays = {"X": np.empty((n_rows, table.width), order="F")}
    for number, column in enumerate(table.get_columns()):
        arrays["X"][:, number] = column.to_numpy()  # missing values become NaN
        if column.name in durations:  # in polars, 60 s would be 1.0000000000000002 min
            arrays["X"][:, number] /= 1e9
    for place, name in enumerate(clocks):
        ticks_of_day = scan.select(pl.col(name).to_physical().cast(pl.Float64) / 1e9).collect()
        arrays[f"clock_{place}"] = ticks_of_day.to_series().to_numpy()
    text = [name for name in schema if name not in numeric + temporal + clocks]
    stamps = [name for name in text if schema[name] == pl.String and may_be_stamps(scan, name)]
    for place, name in enumerate(stamps):
        cells = scan.select(pl.col(name).fill_null("").cast(pl.Binary)).collect().to_series()
        check_size(n_rows * max(map(len, cells), default=0), max_bytes)
        arrays[f"stamps_{place}"] = np.array(cells.to_list(), dtype=bytes)
    if labels in text:
        words = scan.select(pl.col(str(labels)).cast(pl.String).fill_null("")).collect()
        arrays["labels"] = np.array(words.to_series().to_list(), dtype=str)
    arrays |= {f"dates_{place}": _instants(scan, name) for place, name in enumerate(temporal)}
    zones = {name: getattr(schema[name], "time_zone", None) or "" for name in temporal}
    about = {
        "names": numeric,
        "temporal": zones,
        "text": [name for name in text if name not in stamps],
        "order": list(schema),
    }
    return arrays, about | {"durations": durations, "clocks": clocks, "stamps": stamps}


def may_be_stamps(scan: Any, name: str) -> bool:
    """Whether the first cells of a column of text may be dates or times of day."""
    import polars as pl

    cells = scan.select(pl.col(name).drop_nulls().head(FIRST)).collect().to_series()
    return len(cells) > 0 and bool(cells.str.contains(STAMP).all())


def _instants(scan: Any, name: str) -> npt.NDArray[Any]:
    """A column of dates in UTC, or by the clock on the wall if it has no zone; missing ones become NaT."""
    import polars as pl

    unit: Any = getattr(scan.collect_schema()[name], "time_unit", "us")
    dates = scan.select(pl.col(name).cast(pl.Datetime(unit))).collect().to_series()
    return np.array(dates.dt.epoch(unit).fill_null(np.iinfo(np.int64).min).to_numpy()).view(f"M8[{unit}]")


def check_size(n_bytes: int, max_bytes: int) -> None:
    """Raise if the content is larger than the limit, before it is read."""
    if n_bytes > max_bytes:
        raise ValueError(
            f"the content would take {n_bytes:,} bytes, more than the limit of {max_bytes:,}; "
            f"pass a larger max_bytes if you trust the file."
        )


def limit_memory(max_bytes: int) -> None:
    """Limit the address space of this process, if the system can."""
    try:
        import resource
    except ImportError:  # pragma: no cover - not on Windows, which keeps the time limit and the size checks
        return
    resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


TASKS: dict[str, Callable[..., Result]] = {
    "c3d": read_c3d,
    "hdf5": read_hdf5,
    "hdf5_list": list_hdf5,
    "columns": read_columns,
}


def main(task: str, file: str, folder: str, arguments: str) -> int:
    """Run one task; if the file is wrong, write the reason to error.txt and return 1."""
    given = json.loads(arguments)
    limit_memory(given.pop("memory"))
    try:
        arrays, about = TASKS[task](Path(file), **given)
    except BaseException as error:  # a panic of polars is not an Exception
        reason = f"{error} ({type(error).__name__})" if not isinstance(error, ValueError) else str(error)
        Path(folder, "error.txt").write_text(" ".join(reason.split())[:500], "utf-8", "replace")
        return 1
    for name, values in arrays.items():
        np.save(Path(folder, f"{name}.npy"), values, allow_pickle=False)
    Path(folder, "about.json").write_text(json.dumps(about), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
