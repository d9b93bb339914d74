"""Finds the inputs and chooses a result folder for each."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from seqspan._core.text import printable
from seqspan.cli.settings import Settings
from seqspan.results.owner import owner_of


@dataclass(frozen=True)
class Job:
    """One input, its result folder, and the number of threads for its solver."""

    source: Path
    folder: Path
    settings: Settings
    threads: int | None = None
    level: int = 1

    @property
    def name(self) -> str:
        """The input's name, printable."""
        return printable(self.source.name or self.source.resolve().name)


def expand(given: Sequence[str]) -> list[Path]:
    """List the inputs without duplicates, with patterns expanded."""
    found: list[Path] = []
    for item in given:
        if Path(item).exists():
            found.append(Path(item))
            continue
        matched = sorted(glob.glob(item, recursive=True)) if glob.has_magic(item) else []
        if not matched:
            raise FileNotFoundError(f"{printable(item)}: no such file or folder, and no file matches.")
        found += [Path(path) for path in matched]
    return list(dict.fromkeys(found))


def make_jobs(sources: Sequence[Path], settings: Settings, threads: int | None, level: int) -> list[Job]:
    """Give every input a folder of its own: the first that holds no result of another input.

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
        taken = {job.folder for job in jobs}
        free = (folder for folder in _folders(source, settings) if folder not in taken)
        folder = next(folder for folder in free if owner_of(folder, source) is None)
        jobs.append(Job(source, folder, settings, threads, level))
    return jobs


def _folders(source: Path, settings: Settings) -> Iterator[Path]:
    """Yield folders that an input may have: film.seqspan, film-2.seqspan and so on, or out/film, ..."""
    stem = source.stem or source.resolve().stem  # "." has no stem, so use its real name
    for number in count(1):
        numbered = stem if number == 1 else f"{stem}-{number}"
        yield Path(f"{numbered}.seqspan") if settings.out is None else Path(settings.out) / numbered
