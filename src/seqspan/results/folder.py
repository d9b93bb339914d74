"""The folder of a result: whole or not there.

``result.json`` is written last and names every other file with its checksum, so a folder without it, or one
whose files differ from it, holds no result: :func:`load_result` then returns None. New files are made in a
folder inside with a temporary name, and renamed into place. Files of the user's own stay untouched.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from seqspan._core.spans import Span
from seqspan._core.types import Array, IntArray
from seqspan.solvers import Progress

__all__ = ["Solved", "load_result", "write_labels", "write_segments"]

DOCUMENT = "result.json"
SEGMENTS = "segments.csv"
LABELS = "labels.csv"
REPORT = "report.html"
STAGING = ".seqspan-unfinished-"
CACHE = ".seqspan-solution.npz"
SPARSE_SHARE = 0.3  # of non-zero coefficients, below which positions and values take less room than all
BLOCK_BYTES = 2**20


@dataclass(frozen=True, eq=False)
class Solved:
    """Coefficients with their certificate, as they are kept between runs.

    Parameters
    ----------
    Z : float32 array of shape (n, n), or (m, n) where m landmarks are the atoms
    objective, gap : float
        Value of the model, and by how much of it the optimum could be lower at most.
    n_iter : int
    history : tuple of Progress
    seconds : float
        That the solver took.
    warnings : tuple of str
    chosen : dict
        Parameters that were left to the data: weights, and what the samples are represented by.

    Examples
    --------
    >>> Solved(np.eye(3, dtype=np.float32), objective=1.5, gap=0.004, n_iter=40).chosen
    {}
    """

    Z: Array
    objective: float
    gap: float
    n_iter: int
    history: tuple[Progress, ...] = ()
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    chosen: dict[str, Any] = field(default_factory=dict)


def write_segments(path: Path, spans: Iterable[Span]) -> None:
    """Write one row per span; the confidence is that of the boundary at its start.

    Parameters
    ----------
    path : path
        CSV file to write.
    spans : iterable of Span

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "segments.csv"
    ...     write_segments(path, [Span(0, 2, 0.0, 1.0, 0), Span(2, 3, 1.0, 1.5, 1, 0.9)])
    ...     print(path.read_text(), end="")
    start,end,start_time,end_time,label,confidence
    0,2,0,1,0,
    2,3,1,1.5,1,0.9
    """
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["start", "end", "start_time", "end_time", "label", "confidence"])
        for span in spans:
            sure = "" if span.confidence is None else f"{span.confidence:.3g}"
            times = f"{span.start_time:.10g}", f"{span.end_time:.10g}"
            writer.writerow([span.start, span.end, *times, span.label, sure])


def write_labels(path: Path, labels: IntArray, times: Array) -> None:
    """Write one row per sample.

    Parameters
    ----------
    path : path
        CSV file to write.
    labels : array of int, shape (n,)
    times : array of shape (n,)

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.csv"
    ...     write_labels(path, np.array([0, 1]), np.array([0.0, 0.5]))
    ...     print(path.read_text(), end="")
    index,time,label
    0,0,0
    1,0.5,1
    """
    lines = (f"{i},{t:.10g},{label}\n" for i, (t, label) in enumerate(zip(times, labels, strict=True)))
    with path.open("w", encoding="utf-8") as file:
        file.write("index,time,label\n")
        file.writelines(lines)


def hash_file(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of the files in a folder."""
    digest = hashlib.sha256()
    for part in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if path.is_dir():
            digest.update(os.fsencode(part.relative_to(path)) + b"\0")
        if part.is_file():
            with part.open("rb") as file:
                while block := file.read(BLOCK_BYTES):
                    digest.update(block)
    return digest.hexdigest()


def hash_values(*values: object) -> str:
    """SHA-256 of values that JSON knows; the order of keys does not matter."""
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def hash_problem(X: npt.NDArray[Any], settings: Mapping[str, object]) -> str:
    """SHA-256 of what a solver is given: the samples, and the settings that bear on its answer."""
    digest = hashlib.sha256(hash_values(X.shape, str(X.dtype), dict(settings)).encode())
    digest.update(np.ascontiguousarray(X).data)
    return digest.hexdigest()


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """Give a folder to write files in; they appear in `folder` all together when the block ends well.

    What earlier runs left unfinished is removed. A block that raises changes nothing.

    Parameters
    ----------
    folder : path
        It is made where it does not exist.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _remove_unfinished(folder)
    staging = Path(tempfile.mkdtemp(prefix=f"{STAGING}{os.getpid()}-", dir=folder))
    try:
        yield staging
        _publish(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _remove_unfinished(folder: Path) -> None:
    """Remove what runs that were killed have left; what a living process writes is its own."""
    for left in folder.glob(f"{STAGING}*"):
        number = left.name.removeprefix(STAGING).partition("-")[0].partition(".")[0]
        if number.isdecimal() and int(number) != os.getpid() and _is_alive(int(number)):
            continue
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    """Whether a process of that number runs here."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it does, as somebody else
        return True
    return True


def _publish(staging: Path, folder: Path) -> None:
    """Move files into place, the one that vouches for them last."""
    files = sorted(path for path in staging.rglob("*") if path.is_file() and path.name != DOCUMENT)
    document = json.loads((staging / DOCUMENT).read_text(encoding="utf-8"))
    document["files"] = {path.relative_to(staging).as_posix(): hash_file(path) for path in files}
    _write_synced(staging / DOCUMENT, json.dumps(document, indent=1, ensure_ascii=True) + "\n")
    stale = _listed(folder / DOCUMENT) - set(document["files"])
    with suppress(FileNotFoundError):  # from here to the last line the folder holds no result
        (folder / DOCUMENT).unlink()
    for name in stale:
        (folder / name).unlink(missing_ok=True)
    for path in files:
        target = folder / path.relative_to(staging)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
    (staging / DOCUMENT).replace(folder / DOCUMENT)


def _listed(path: Path) -> set[str]:
    """Files inside the folder that an earlier result.json names."""
    try:
        names = json.loads(path.read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    inside = path.parent.resolve()
    return {name for name in names if (inside / name).resolve().is_relative_to(inside)}


def _write_synced(path: Path, text: str) -> None:
    """Write a file and wait until it is on the disk, so that a rename cannot overtake its content."""
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def load_result(folder: Path) -> dict[str, Any] | None:
    """Read the result in a folder.

    Parameters
    ----------
    folder : path

    Returns
    -------
    document : dict or None
        Content of ``result.json``; None where there is none, or where a file that it names is missing or
        not as it was written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(load_result(Path(folder)))
    None
    """
    try:
        document = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))
        whole = all(hash_file(folder / name) == digest for name, digest in document["files"].items())
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return None
    return document if whole else None


def save_solution(folder: Path, key: str, solved: Solved) -> None:
    """Keep coefficients for the next run; they take the place of those of another problem."""
    folder.mkdir(parents=True, exist_ok=True)
    header = {name: value for name, value in asdict(solved).items() if name != "Z"}
    arrays: dict[str, Any] = {"header": np.array(json.dumps({"key": key, **header}))}
    rows, columns = np.nonzero(solved.Z)
    if len(rows) <= SPARSE_SHARE * solved.Z.size:
        arrays |= {"places": rows * solved.Z.shape[1] + columns, "values": solved.Z[rows, columns]}
        arrays["shape"] = np.array(solved.Z.shape)
    else:
        arrays["Z"] = solved.Z
    unfinished = folder / f"{STAGING}{os.getpid()}.npz"
    try:
        with unfinished.open("wb") as file:
            np.savez(file, **arrays)
        unfinished.replace(folder / CACHE)
    finally:
        unfinished.unlink(missing_ok=True)


def load_solution(folder: Path, key: str) -> Solved | None:
    """Return the coefficients that were kept of this very problem, None where there are none."""
    try:
        # opened here, as np.load leaves the file open where it is no archive
        with (folder / CACHE).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            header = json.loads(str(arrays["header"]))
            if header.pop("key") != key:
                return None
            Z = arrays["Z"] if "Z" in arrays else _fill(arrays)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    history = tuple(Progress(**progress) for progress in header.pop("history"))
    return Solved(Z, history=history, warnings=tuple(header.pop("warnings")), **header)


def _fill(arrays: Mapping[str, npt.NDArray[Any]]) -> Array:
    """Put values at their places in a matrix of zeros."""
    Z = np.zeros(tuple(arrays["shape"]), dtype=arrays["values"].dtype)
    Z.flat[arrays["places"]] = arrays["values"]
    return Z
