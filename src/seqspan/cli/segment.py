"""From one input to its result folder: read, represent, cut, write."""

from __future__ import annotations

import platform
import shlex
import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

import seqspan
from seqspan._core.backend import require_cupy
from seqspan._core.display import Display
from seqspan._core.text import merge_names, printable
from seqspan.cli.export import EXPORTED
from seqspan.cli.inputs import Job
from seqspan.cli.settings import Settings, parameters_of, parse_exports, parse_rate, read_options
from seqspan.cli.truth import Truth, read_truth, score
from seqspan.cli.values import count_samples, parse_names
from seqspan.exports._timeline import SECONDS
from seqspan.exports.selection import Selection, file_of
from seqspan.methods._base import Parameters
from seqspan.pipeline import MIN_SAMPLES, cut, represent
from seqspan.readers._limits import check_regular
from seqspan.readers._read import list_files, read
from seqspan.recording import Recording, concatenate, resample_to, split_at_gaps
from seqspan.report import build_report
from seqspan.results.cache import SolutionCache
from seqspan.results.corrections import Corrections, read_corrections
from seqspan.results.documents import DOCUMENT, Earlier, read_document
from seqspan.results.fingerprints import hash_code, hash_file, hash_files, hash_values
from seqspan.results.folder import LABELS, REPORT, SEGMENTS, STATES, load_result, staged, write_document
from seqspan.results.lock import reserved
from seqspan.results.owner import check_owner
from seqspan.results.publish import check_free, describe_kept
from seqspan.segmentation import Segmentation

# Up to this many samples, stages after solving use one BLAS thread: in small factorisations threads wait
# for each other, which takes up to 4 times as long on a busy machine.
MAX_SINGLE_THREADED_SAMPLES = 4000
# parameters of a method that determine its coefficients
COEFFICIENT_PARAMETERS = (
    "lambda_1", "lambda_2", "solver", "dictionary", "device", "tol", "max_iter", "zero_diagonal", "penalty",
    "noise",
)  # fmt: skip
PACKAGES = (
    "numpy", "scipy", "scikit-learn", "numba", "polars", "pillow", "av", "ezc3d", "pybvh", "spectral", "h5py",
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """The outcome for one input.

    Parameters
    ----------
    name : str
        Name of the input, printable.
    folder : path
    document : mapping
        Content of ``result.json``; empty after an error.
    status : {"solved", "recut", "applied", "unchanged", "failed"}
    error : str
        The error in one line.
    notes : tuple of str
        What became of files that were in the folder.
    """

    name: str
    folder: Path
    document: Mapping[str, Any]
    status: str
    error: str = ""
    notes: tuple[str, ...] = ()


def run_job(job: Job, *, fresh: bool = False) -> Outcome:
    """Segment one input and write its result folder.

    Parameters
    ----------
    job : Job
    fresh : bool
        Solve again even if nothing changed.

    Returns
    -------
    Outcome
    """
    _check_device(job.settings)
    options = {"format": job.settings.format, **read_options(job.settings)}
    source_hash = hash_files([file for source in job.sources for file in list_files(source, **options)])
    fingerprint = make_fingerprint(job, source_hash)
    stored = None if fresh else load_result(job.folder)
    if stored is not None and stored.get("fingerprint") == fingerprint:
        return Outcome(job.name, job.folder, stored, "unchanged")
    with reserved(job.folder), Display(job.name, job.level) as display:
        before = read_document(job.folder / DOCUMENT)
        report_before = REPORT in Earlier.read(job.folder).present
        exports = select_exports(job)
        with display.stage("reading"):
            recording = _read(job, options)
            truth = _read_truth(job.settings, len(recording))
            corrections = _read_corrections(job.settings, recording)
            exports.check(recording)
            if len(recording.lengths) > 1:
                check_free(
                    job.folder, [file_of(name, own) for name in exports.names for own in recording.names]
                )
        parameters = parameters_of(job.settings, n_jobs=job.threads, **_min_length(job.settings, recording))
        found = _segment(job, recording, parameters, display, fresh=fresh)
        if corrections is not None:
            found = found.corrected(corrections)
        found = found.rename(parse_names(job.settings.names or ""))
        document = _describe(job, found, parameters, truth) | {"fingerprint": fingerprint}
        document["input"] |= {"path": job.given, "sha256": source_hash}
        document["input"]["notes"] += [] if corrections is None else corrections.notes
        with threadpool_limits(count_threads(recording)):
            document = write_files(job, found, document, truth, exports, display)
    reused = found.representation is not None and found.representation.reused
    notes = (*note_kept(job, before, document), *note_report(report_before, document))
    return Outcome(job.name, job.folder, document, "recut" if reused else "solved", notes=notes)


def make_fingerprint(job: Job, source_hash: str) -> str:
    """Hash everything the result depends on: the files of the input, the settings, and the code."""
    settings = asdict(job.settings)
    aside = ("out", "jobs", "truth", "segments")
    relevant = {name: value for name, value in settings.items() if name not in aside}
    hashes = [_hash_given(job.settings.truth), _hash_given(job.settings.segments)]
    names = [source.name for source in job.sources] if job.others else job.source.name
    return hash_values(names, source_hash, relevant, hashes, code_version())


def _hash_given(path: str | None) -> str | None:
    """Hash of a file that an option names."""
    if path is None:
        return None
    if not Path(path).exists():
        raise FileNotFoundError(f"{printable(path)}: no such file.")
    check_regular(Path(path))
    return hash_file(Path(path))


def code_version() -> str:
    """Hash of all code that decides the answer: this package, and the versions of those it uses."""
    return hash_values(hash_code(), versions())


def _read(job: Job, options: dict[str, Any]) -> Recording:
    """Read the input, or several one after another; long gaps in time are joins, too."""
    with ThreadPoolExecutor(job.settings.jobs) as readers:  # one result, so --jobs inputs are read at a time
        recordings = list(readers.map(partial(read, **options), job.sources))
    if job.settings.gap is not None:
        recordings = [_split(each, job.settings.gap) for each in recordings]
    rate = parse_rate(job.settings)
    if isinstance(
        rate, float
    ):  # per second, whatever the unit of the times; per unit of others, such as depths
        recordings = [resample_to(each, rate * SECONDS.get(each.time_unit, 1.0)) for each in recordings]
    return concatenate(recordings, rate if isinstance(rate, str) else None)


def _split(recording: Recording, gap: float) -> Recording:
    """Split a recording at gaps of so many seconds."""
    if recording.time_unit not in SECONDS:
        raise ValueError(
            f"--gap needs a recording with times; this one is measured in {printable(recording.time_unit)!r}."
        )
    return split_at_gaps(recording, gap / SECONDS[recording.time_unit])


def _check_device(settings: Settings) -> None:
    """Fail before reading anything if a GPU is requested but none is available."""
    if settings.device == "cuda":
        try:
            require_cupy()
        except (ImportError, RuntimeError) as error:
            raise ValueError(str(error)) from error


def _read_truth(settings: Settings, n_samples: int) -> Truth | None:
    """Read the truth if a file was given."""
    return None if settings.truth is None else read_truth(Path(settings.truth), n_samples)


def _read_corrections(settings: Settings, recording: Recording) -> Corrections | None:
    """Read corrected spans if a file was given."""
    if settings.segments is None:
        return None
    names = merge_names((), parse_names(settings.names or ""))
    return read_corrections(Path(settings.segments), recording, names)


def select_exports(job: Job) -> Selection:
    """The exports that were asked for and those of earlier runs; refuse a folder that is not ours to use."""
    check_owner(job.folder, Path(job.given))
    asked = Selection(tuple(parse_exports(job.settings.export)), job.settings.split)
    exports = asked | Selection.from_files(Earlier.read(job.folder).present)
    report = [] if job.settings.no_report else [REPORT]
    check_free(job.folder, [DOCUMENT, SEGMENTS, LABELS, STATES, *report, *map(file_of, exports.names)])
    return exports


def note_kept(job: Job, before: Mapping[str, Any] | None, document: Mapping[str, Any]) -> list[str]:
    """What became of edited files and of exports of corrected spans, and how to use them again."""
    notes, kept = describe_kept(document), document.get("kept", {})
    folder = shlex.quote(str(job.folder))
    if before is not None and EXPORTED in before and job.settings.segments is None:
        table = Path(before[EXPORTED]["path"])
        if table == job.folder / SEGMENTS and SEGMENTS in kept:
            table = job.folder / kept[SEGMENTS]
        again = f"seqspan export {folder} --segments {shlex.quote(str(table))}"
        notes.append(f"exports were written again from the new spans; for the corrected ones: {again}")
    elif SEGMENTS in kept:
        table = job.folder / kept[SEGMENTS]
        notes.append(f"to export your version: seqspan export {folder} --segments {shlex.quote(str(table))}")
    return notes


def note_report(before: bool, document: Mapping[str, Any]) -> list[str]:
    """Say so if ``--no-report`` has removed a report, which would have shown spans that no longer hold."""
    gone = before and REPORT not in document["files"] and REPORT not in document["kept"]
    return [f"{REPORT} was of the earlier run and has been removed"] if gone else []


def _min_length(settings: Settings, recording: Recording) -> dict[str, int]:
    """The shortest span in samples, if it was given."""
    given = settings.min_length
    return {} if given is None else {"min_length": count_samples(given, recording, settings.preprocess)}


def _note_min_length(settings: Settings, recording: Recording) -> list[str]:
    """Say so if the shortest span that was asked for leaves room for one span only."""
    shortest = _min_length(settings, recording).get("min_length", 0)
    if 2 * shortest <= max(recording.lengths, default=len(recording)):
        return []
    return [
        f"--min-length {settings.min_length} leaves room for one span only: it is {shortest} samples, more "
        "than half of the recording"
    ]


def count_threads(recording: Recording) -> int | None:
    """Number of BLAS threads for the stages after solving."""
    return 1 if len(recording) <= MAX_SINGLE_THREADED_SAMPLES else None


def _segment(
    job: Job, recording: Recording, parameters: Parameters, display: Display, *, fresh: bool
) -> Segmentation:
    """Run the pipeline; if the folder contains a cached solution, only the cut is run."""
    if len(recording) < MIN_SAMPLES:
        raise ValueError(f"at least {MIN_SAMPLES} samples are needed; got {len(recording)}.")
    method, cutting = parameters.stages()
    cache = SolutionCache(job.folder, code_version())
    if fresh:
        cache.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same texts are in the notes of the representation
        found = represent(recording, method, cutting=cutting, cache=cache, display=display)
        with threadpool_limits(count_threads(recording)):
            return cut(found, cutting, display=display)


def _describe(job: Job, found: Segmentation, parameters: Parameters, truth: Truth | None) -> dict[str, Any]:
    """Compile the content of ``result.json``; the times of the last stages are added later."""
    described = found.describe()
    return described | {
        "warnings": [*described.get("warnings", ()), *_note_min_length(job.settings, found.recording)],
        "settings": asdict(job.settings),
        "parameters": _parameters(found, parameters),
        "scores": {} if truth is None else score(truth, found.labels, found.boundaries),
        "command": job.settings.to_command(*(map(str, job.sources) if job.others else [job.given])),
        "versions": versions(),
    }


def _parameters(found: Segmentation, parameters: Parameters) -> dict[str, Any]:
    """The parameters that determine the coefficients, with "auto" replaced by the values chosen."""
    given = vars(parameters)
    stated = {name: given[name] for name in COEFFICIENT_PARAMETERS if name in given}
    if found.representation is None or "lambda_2" not in stated or "dictionary" not in stated:
        return stated
    model = found.representation.model
    landmarks = found.representation.landmarks is not None
    chosen = {"lambda_1": model.lam1, "lambda_2": model.lam2}
    return stated | chosen | {"dictionary": "landmarks" if landmarks else "samples"}


def versions() -> dict[str, str]:
    """Versions of this program, of Python and of the packages that affect the result."""
    found = {"seqspan": seqspan.__version__, "python": platform.python_version()}
    return found | {package: _package_version(package) for package in PACKAGES}


@cache
def _package_version(package: str) -> str:
    """Version of an installed package; looking it up again may leave more in memory every time."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def write_files(
    job: Job,
    found: Segmentation,
    document: dict[str, Any],
    truth: Truth | None,
    exports: Selection,
    display: Display,
) -> dict[str, Any]:
    """Write all files of the result to a temporary folder, publish them together, and return result.json."""
    with staged(job.folder) as staging:
        found.write_tables(staging)
        found.write_states(staging)
        with display.stage("exporting"):
            document |= exports.write(found.recording, found.spans, found.label_names, staging)
        document["seconds"] = dict(display.seconds) | {"solver": _solver_seconds(found)}
        if not job.settings.no_report:
            with display.stage("report"):
                labels, names = (None, ()) if truth is None else (truth.labels, truth.names)
                text = build_report(found, document, true_labels=labels, true_names=names)
                (staging / REPORT).write_text(text, encoding="utf-8")
        document["seconds"] |= display.seconds
        write_document(staging, document)
    return read_document(job.folder / DOCUMENT) or document


def _solver_seconds(found: Segmentation) -> float:
    """Time spent in the solver itself."""
    history = [] if found.representation is None else found.representation.solution.history
    return history[-1].seconds if history else 0.0
