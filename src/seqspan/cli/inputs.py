"""Finds the inputs and chooses a result folder for each."""

from __future__ import annotations

import atexit
import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from seqspan._core.text import printable
from seqspan.cli.settings import Settings
from seqspan.readers._folders import list_recordings
from seqspan.results.documents import Earlier
from seqspan.results.owner import owner_of

STDIN = "-"  # on the command line
SPOOL = "seqspan-stdin-"  # start of the name of a temporary folder


@dataclass(frozen=True)
class Job:
    """One input, its result folder, and the number of threads for its solver.

    Several inputs that are segmented together are one job: the first, and the `others`.
    """

    source: Path
    folder: Path
    settings: Settings
    threads: int | None = None
    level: int = 1
    others: tuple[Path, ...] = ()

    @property
    def sources(self) -> tuple[Path, ...]:
        """All inputs."""
        return (self.source, *self.others)

    @property
    def given(self) -> str:
        """The input as it was given on the command line; of several inputs, the folder they are in."""
        return str(common_folder(self.sources)) if self.others else given_as(self.source)

    @property
    def name(self) -> str:
        """The input's name, printable."""
        if self.others:
            return f"{len(self.sources)} recordings"
        return printable(self.source.name or self.source.resolve().name)


def expand(given: Sequence[str]) -> list[Path]:
    """List the inputs without duplicates: patterns and folders of recordings expanded, results left out.

    An input that is not there stays in the list, so that it fails alone and the others get their results.
    """
    found: list[Path] = []
    for item in given:
        if not item:
            raise ValueError("an input must not be empty; for the current folder, give '.'.")
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
        return bool(Earlier.read(path).documents)
    return path.name in Earlier.read(path.parent).digests


def spool_stdin() -> Path:
    """Copy standard input to a temporary file, because readers go through a file more than once."""
    folder = Path(tempfile.mkdtemp(prefix=SPOOL))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "stdin"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def given_as(source: Path) -> str:
    """An input as it was given on the command line, where standard input has no path."""
    return STDIN if source.parent.name.startswith(SPOOL) else str(source)


def make_jobs(
    sources: Sequence[Path],
    settings: Settings,
    threads: int | None,
    level: int,
    is_taken: Callable[[Path], bool] = lambda folder: False,
) -> list[Job]:
    """Give every input a folder of its own: the first that is not taken and holds no result of another input.

    Examples
    --------
    >>> jobs = make_jobs([Path("a/film.mp4"), Path("b/film.mp4")], Settings(out="out"), None, 1)
    >>> [job.folder.as_posix() for job in jobs]
    ['out/film', 'out/film-2']
    """
    if settings.together and len(sources) > 1:
        return [_job_together(sources, settings, threads, level)]
    if len(sources) == 1 and settings.out is not None:
        return [Job(sources[0], Path(settings.out), settings, threads, level)]
    jobs: list[Job] = []
    for source in sources:
        taken = {job.folder for job in jobs}
        free = (
            folder for folder in _folders(source, settings) if folder not in taken and not is_taken(folder)
        )
        folder = next(folder for folder in free if owner_of(folder, Path(given_as(source))) is None)
        jobs.append(Job(source, folder, settings, threads, level))
    return jobs


def _job_together(sources: Sequence[Path], settings: Settings, threads: int | None, level: int) -> Job:
    """One job for all inputs, whose result is named after the folder they are in."""
    shared = common_folder(sources)
    out = Path(settings.out) if settings.out is not None else Path(f"{shared.resolve().name}.seqspan")
    return Job(sources[0], out, settings, threads, level, tuple(sources[1:]))


def common_folder(sources: Sequence[Path]) -> Path:
    """The folder that all inputs are in, as near to them as possible.

    Examples
    --------
    >>> common_folder([Path("trials/a.c3d"), Path("trials/b.c3d")]).as_posix()
    'trials'
    """
    folders = [str(source.parent) for source in sources]
    absolute = len({Path(folder).is_absolute() for folder in folders}) > 1
    return Path(os.path.commonpath([os.path.abspath(each) if absolute else each for each in folders]) or ".")


def _folders(source: Path, settings: Settings) -> Iterator[Path]:
    """Yield folders that an input may have: film.seqspan, film-2.seqspan and so on, or out/film, ..."""
    name = source.name or source.resolve().name  # "." has no name, so use its real one
    stem = Path(name.removesuffix(".gz")).stem
    for number in count(1):
        numbered = stem if number == 1 else f"{stem}-{number}"
        yield Path(f"{numbered}.seqspan") if settings.out is None else Path(settings.out) / numbered
