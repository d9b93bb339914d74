"""Finds the inputs and chooses a result folder for each."""

from __future__ import annotations

import atexit
import glob
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from seqspan._core.text import printable
from seqspan.cli.settings import Settings
from seqspan.readers._folders import list_recordings
from seqspan.results.folder import DOCUMENT

STDIN = "-"  # on the command line
SPOOL = "seqspan-stdin-"  # start of the name of a temporary folder


@dataclass(frozen=True)
class Job:
    """One input, its result folder, and the number of threads for its solver."""

    source: Path
    folder: Path
    settings: Settings
    threads: int | None = None
    level: int = 1

    @property
    def given(self) -> str:
        """The input as it was given on the command line."""
        return STDIN if self.source.parent.name.startswith(SPOOL) else str(self.source)

    @property
    def name(self) -> str:
        """The input's name, printable."""
        return printable(self.source.name or self.source.resolve().name)


def expand(given: Sequence[str]) -> list[Path]:
    """List the inputs without duplicates: patterns and folders of recordings expanded, results left out.

    An input that is not there stays in the list, so that it fails alone and the others get their results.
    """
    found: list[Path] = []
    for item in given:
        if item == STDIN:
            found.append(spool_stdin())
        elif Path(item).exists() or not glob.has_magic(item):
            found += _inputs_at(Path(item))
        else:
            matched = map(Path, sorted(glob.glob(item, recursive=True)))
            found += [path for path in matched if not is_result(path)] or [Path(item)]
    return list(dict.fromkeys(found))


def _inputs_at(path: Path) -> list[Path]:
    """The path itself, or the recordings in it if it is a folder of recordings."""
    if not path.is_dir():
        return [path]
    return [each for each in list_recordings(path) if not is_result(each)] or [path]


def is_result(path: Path) -> bool:
    """Whether a path is a result folder, or a file that the result beside it lists."""
    if path.is_dir():
        return (path / DOCUMENT).is_file()
    try:
        listed = json.loads((path.parent / DOCUMENT).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return path.name in listed


def spool_stdin() -> Path:
    """Copy standard input to a temporary file, because readers go through a file more than once."""
    folder = Path(tempfile.mkdtemp(prefix=SPOOL))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "stdin"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def make_jobs(sources: Sequence[Path], settings: Settings, threads: int | None, level: int) -> list[Job]:
    """Give every input a folder of its own.

    Examples
    --------
    >>> jobs = make_jobs([Path("a/film.mp4"), Path("b/film.mp4")], Settings(out="out"), None, 1)
    >>> [job.folder.as_posix() for job in jobs]
    ['out/film', 'out/film-2']
    """
    if len(sources) == 1 and settings.out is not None:
        return [Job(sources[0], Path(settings.out), settings, threads, level)]
    jobs: list[Job] = []
    for source in sources:
        stem = source.stem or source.resolve().stem  # "." has no stem, so use its real name
        base = Path(settings.out) / stem if settings.out is not None else Path(f"{stem}.seqspan")
        folder, number = base, 1
        while any(job.folder == folder for job in jobs):
            number += 1
            folder = base.with_name(f"{stem}-{number}{base.suffix if settings.out is None else ''}")
        jobs.append(Job(source, folder, settings, threads, level))
    return jobs
