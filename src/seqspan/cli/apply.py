"""From a result folder and new inputs to their result folders: the labels found before, in new recordings."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from seqspan._core.display import Display
from seqspan._core.spans import UNKNOWN
from seqspan._core.text import noun_of, percent, plural_of, printable
from seqspan.cli.inputs import Job, expand, make_jobs
from seqspan.cli.segment import (
    Outcome,
    code_version,
    count_threads,
    note_kept,
    select_exports,
    versions,
    write_files,
)
from seqspan.cli.settings import Settings, check_out, read_options
from seqspan.cli.vocabulary import Vocabulary
from seqspan.exports._timeline import SECONDS
from seqspan.known import KnownStates
from seqspan.readers._read import list_files, read
from seqspan.recording import Recording, resample_to, sampling_rate
from seqspan.recording.rates import describe_rate, have_same_rate
from seqspan.results.documents import DOCUMENT, Earlier, read_document
from seqspan.results.fingerprints import hash_file, hash_files, hash_values
from seqspan.results.folder import STATES, is_unchanged, load_result
from seqspan.results.lock import reserved
from seqspan.results.stored import read_label_names
from seqspan.segmentation import Segmentation

#: Settings that say how an input is read.
READING = (
    "format",
    "missing",
    "missing_values",
    "columns",
    "exclude",
    "time_column",
    "variable",
    "stride",
    "read",
    "resample",
)
MIN_AGREEMENT = 0.9  # share of its own samples that a result recognises; below it, a note says so


@dataclass(frozen=True, eq=False)
class Known:
    """The labels of a result folder.

    Parameters
    ----------
    folder : path
    states : KnownStates
    label_names : tuple of str
    settings : Settings
        How its input was read.
    sha256 : str
        Of the file of the states.
    rate : float, optional
        Sampling rate of its input.
    time_unit : str
        Of its input.
    """

    folder: Path
    states: KnownStates
    label_names: tuple[str, ...]
    settings: Settings
    sha256: str
    rate: float | None = None
    time_unit: str = ""


def read_known(folder: Path) -> Known:
    """Read the labels of a result folder, and how its input was read."""
    document = read_document(folder / DOCUMENT)
    where = printable(str(folder))
    if document is None or "input" not in document:
        raise FileNotFoundError(f"{where}: no result folder; seqspan segment writes one.")
    Earlier.read(folder).refuse_newer()
    if STATES not in document["files"]:
        raise ValueError(
            f"{where}: says nothing about what recognises its labels; run seqspan segment again on its input."
        )
    if not is_unchanged(folder, document, STATES):
        raise ValueError(f"{where}: {STATES} is missing or has changed since it was written.")
    return Known(
        folder,
        KnownStates.load(folder / STATES),
        read_label_names(document),
        _reading_settings(document.get("settings", {}), where),
        hash_file(folder / STATES),
        document["input"].get("rate"),
        document["input"].get("time_unit", ""),
    )


def read_vocabulary(folder: Path) -> Vocabulary:
    """Read the labels of a result folder, to be recognised in a stream."""
    known = read_known(folder)
    return Vocabulary(known.states, known.label_names, known.sha256)


def _reading_settings(settings: Any, where: str) -> Settings:
    """Of the settings of a run, those that say how its input was read."""
    kinds = {"stride": int, "read": list}
    if not isinstance(settings, dict) or not all(
        isinstance(settings[name], kinds.get(name, str)) for name in READING if settings.get(name) is not None
    ):
        raise ValueError(f"{where}: {DOCUMENT} does not say settings as it should.")
    given: dict[str, Any] = {name: settings[name] for name in READING if settings.get(name) is not None}
    return Settings(**given | {"read": tuple(given.get("read", ()))})


def make_apply_jobs(
    known: Known, inputs: Sequence[str], out: str | None, export: str | None, level: int
) -> list[Job]:
    """Give every input a folder; one that holds what `segment` found in it is left alone."""
    check_out(out)
    settings = replace(known.settings, out=out, export=export)
    return make_jobs(expand(inputs), settings, None, level, is_taken=holds_segmentation)


def holds_segmentation(folder: Path) -> bool:
    """Whether a folder holds a result of `segment`, whose labels are its own."""
    return any("input" in each and "states" not in each for each in Earlier.read(folder).documents)


def apply_job(job: Job, known: Known) -> Outcome:
    """Find the labels of a result in one input, and write its folder.

    Parameters
    ----------
    job : Job
    known : Known

    Returns
    -------
    Outcome
    """
    options = {"format": job.settings.format, **read_options(job.settings)}
    source_hash = hash_files(list_files(job.source, **options))
    relevant = {name: value for name, value in asdict(job.settings).items() if name != "out"}
    about = known.sha256, list(known.label_names)  # the names are not in the file of the states
    fingerprint = hash_values(job.source.name, source_hash, about, relevant, code_version())
    stored = load_result(job.folder)
    if stored is not None and stored.get("fingerprint") == fingerprint:
        return Outcome(job.name, job.folder, stored, "unchanged")
    if holds_segmentation(job.folder):
        raise FileExistsError(
            f"{printable(str(job.folder))}: holds what seqspan segment has found: choose another folder."
        )
    with reserved(job.folder), Display(job.name, job.level) as display:
        before = read_document(job.folder / DOCUMENT)
        exports = select_exports(job)
        with display.stage("reading"):
            recording = _select_columns(read(job.source, **options), known.states.feature_names)
            recording = _match_rate(recording, known, resampled=job.settings.resample is not None)
            exports.check(recording)
        with display.stage("recognising"), threadpool_limits(count_threads(recording)):
            found = Segmentation.from_states(recording, known.states, known.label_names)
        document = _describe(job, found, known) | {"fingerprint": fingerprint}
        document["input"] |= {"path": job.given, "sha256": source_hash}
        document = write_files(job, found, document, None, exports, display)
    return Outcome(job.name, job.folder, document, "applied", notes=tuple(note_kept(job, before, document)))


def _select_columns(recording: Recording, names: tuple[str, ...]) -> Recording:
    """Leave out columns that the known labels do not look at; missing ones are an error later."""
    given = recording.feature_names
    additional = [name for name in given if name not in set(names)]
    if not names or not additional or not set(names) <= set(given):
        return recording
    kept = [place for place, name in enumerate(given) if name in set(names)]
    note = f"columns that the known labels do not look at were left out: {', '.join(additional)}"
    selected = replace(recording, X=recording.X[:, kept], feature_names=tuple(given[place] for place in kept))
    return selected.with_notes(note)


def _match_rate(recording: Recording, known: Known, *, resampled: bool) -> Recording:
    """Resample as the run of the result did; if it did not, another sampling rate is noted."""
    rate, before = sampling_rate(recording), known.rate
    if rate is None or before is None:
        return recording
    if recording.time_unit != known.time_unit:
        if recording.time_unit not in SECONDS or known.time_unit not in SECONDS:
            one, other = printable(known.time_unit), printable(recording.time_unit)
            return recording.with_notes(
                f"the known labels were found in a recording measured in {one!r}, this one in {other!r}"
            )
        before *= SECONDS[recording.time_unit] / SECONDS[known.time_unit]
    if have_same_rate(rate, before):
        return recording
    if resampled:
        return resample_to(recording, before)
    found, here = describe_rate(before, recording), describe_rate(rate, recording)
    lower = min(before, rate) / SECONDS.get(recording.time_unit, 1.0)  # as --resample takes it: per second
    return recording.with_notes(
        f"the known labels were found at {found}, and this was recorded at {here}, which may mislead; "
        f"segment --resample {lower:.4g} finds labels that can be compared"
    )


def _describe(job: Job, found: Segmentation, known: Known) -> dict[str, Any]:
    """Compile the content of ``result.json``."""
    states = {
        "path": str(known.folder),
        "sha256": known.sha256,
        "labels": known.states.states.labels.tolist(),
        "unknown": float(np.mean(found.labels == UNKNOWN)),
    }
    return found.describe() | {
        "states": states,
        "settings": asdict(job.settings),
        "warnings": _note_agreement(known, plural_of(noun_of(found.recording.kind))),
        "scores": {},
        "command": _command(job, known),
        "versions": versions(),
    }


def _note_agreement(known: Known, nouns: str) -> list[str]:
    """Say so if the known labels are not even recognised in the recording that they come from."""
    share = known.states.agreement
    if share >= MIN_AGREEMENT:
        return []
    return [
        f"the {nouns} of {known.folder} are recognised in only {percent(share)} of its own samples: those of "
        "--cut ordered are easier to recognise"
    ]


def _command(job: Job, known: Known) -> str:
    """Write the command that repeats the run."""
    parts = ["seqspan", "apply", str(known.folder), job.given]
    for flag, value in (("--out", job.settings.out), ("--export", job.settings.export)):
        parts += [flag, value] if value is not None else []
    return shlex.join(parts)
