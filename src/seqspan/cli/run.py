"""From one input to its result folder: read, prepare, solve, cut, tell."""

from __future__ import annotations

import json
import platform
import time
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import seqspan
from seqspan._core.backend import require_cupy
from seqspan._core.checks import check_room, scale_columns
from seqspan._core.spans import make_spans
from seqspan._core.types import Array
from seqspan.cli.display import Display
from seqspan.cli.inputs import Job
from seqspan.cli.settings import (
    METHODS,
    Settings,
    model_parameters,
    parse_count,
    parse_exports,
    read_options,
)
from seqspan.cli.truth import Truth, read_truth, score
from seqspan.cuts.ordered.cut import MIN_LENGTH
from seqspan.cuts.spectral.n_subspaces import ESTIMATORS
from seqspan.exports import EXPORTS, check_export, make_timeline, write_export
from seqspan.exports.split import split_video
from seqspan.pipeline import segment
from seqspan.preprocess import Chain, make_chain
from seqspan.readers import read
from seqspan.recording import Recording
from seqspan.report import Findings, build_report
from seqspan.results.folder import (
    DOCUMENT,
    LABELS,
    REPORT,
    SEGMENTS,
    Solved,
    hash_file,
    hash_problem,
    hash_values,
    load_result,
    load_solution,
    save_solution,
    staged,
    write_labels,
    write_segments,
)

# below, threads of many small factorisations wait for each other: a busy machine takes 4 times as long
MANY_SAMPLES = 4000
# parameters of an estimator that bear on its coefficients
BEARING = (
    "lambda_1", "lambda_2", "solver", "dictionary", "device", "tol", "max_iter", "zero_diagonal",
    "penalty", "noise",
)  # fmt: skip
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "av", "polars")


@dataclass(frozen=True)
class Outcome:
    """What became of an input.

    Parameters
    ----------
    name : str
        Of the input, printable.
    folder : path
    document : mapping
        What ``result.json`` says; empty where there was an error.
    status : {"solved", "recut", "unchanged", "failed"}
    error : str
        One line.
    """

    name: str
    folder: Path
    document: Mapping[str, Any]
    status: str
    error: str = ""


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
    source_hash = hash_file(job.source)
    fingerprint = make_fingerprint(job, source_hash)
    stored = None if fresh else load_result(job.folder)
    if stored is not None and stored.get("fingerprint") == fingerprint:
        return Outcome(job.name, job.folder, stored, "unchanged")
    with Display(job.name, job.level).shown() as display:
        with display.stage("reading"):
            recording = read(job.source, format=job.settings.format, **read_options(job.settings))
            truth = _read_truth(job.settings, len(recording))
            _check_exports(job.settings, recording)
            chain = _make_chain(job.settings, recording)
            # half the memory and time; the gap is certified all the same
            X = chain.apply(recording.X).astype(np.float32, copy=False)
        solved, reused = _solve(job, X, display, fresh=fresh)
        with threadpool_limits(1 if len(X) <= MANY_SAMPLES else None):
            with display.stage("cutting"):
                findings = _cut(job.settings, recording, X, solved, chain, truth)
            document = _describe(job, findings, chain, truth) | {"fingerprint": fingerprint}
            document["input"]["sha256"] = source_hash
            _write(job, replace(findings, document=document), display)
    return Outcome(job.name, job.folder, document, "recut" if reused else "solved")


def make_fingerprint(job: Job, source_hash: str) -> str:
    """Hash all that bears on the result: the input's content, the settings, and this program's version."""
    settings = asdict(job.settings)
    bearing = {name: value for name, value in settings.items() if name not in ("out", "jobs", "truth")}
    truth = job.settings.truth
    truth_hash = None if truth is None else hash_file(Path(truth))
    return hash_values(job.source.name, source_hash, bearing, truth_hash, seqspan.__version__)


def _check_device(settings: Settings) -> None:
    """Say before anything is read that a GPU is asked for and there is none."""
    if settings.device == "cuda":
        try:
            require_cupy()
        except (ImportError, RuntimeError) as error:
            raise ValueError(str(error)) from error


def _read_truth(settings: Settings, n_samples: int) -> Truth | None:
    """Read the truth where there is one."""
    return None if settings.truth is None else read_truth(Path(settings.truth), n_samples)


def _check_exports(settings: Settings, recording: Recording) -> None:
    """Refuse exports that do not fit before minutes are spent on solving."""
    names = parse_exports(settings.export)
    if not names and not settings.split:
        return
    timeline = make_timeline(recording, [])
    for name in names:
        check_export(name, timeline)
    if settings.split and timeline.frame_rate is None:
        raise ValueError(f"{timeline.name}: --split needs a video file; this is {timeline.what}.")


def _make_chain(settings: Settings, recording: Recording) -> Chain:
    """Make the steps before the solver, by the kind of the timeline where they are to be chosen."""
    steps = None if settings.preprocess == "none" else settings.preprocess
    return make_chain(steps, recording.X, recording.kind)


def _solve(job: Job, X: Array, display: Display, *, fresh: bool) -> tuple[Solved, bool]:
    """Return the coefficients, and whether they were kept from an earlier run."""
    parameters = model_parameters(job.settings)
    with display.stage("solving"):
        # another version may solve better: it does not take over what an older one kept
        key = hash_problem(X, {"version": seqspan.__version__, "method": job.settings.method, **parameters})
        kept = None if fresh else load_solution(job.folder, key)
        if kept is not None:
            return kept, True
        solved = _fit(job, X, parameters, display)
        save_solution(job.folder, key, solved)
    return solved, False


def _fit(job: Job, X: Array, parameters: dict[str, Any], display: Display) -> Solved:
    """Run the solver; cutting into a single subspace costs nothing and is left for later."""
    estimator = METHODS[job.settings.method](n_subspaces=1, **parameters)
    if "n_jobs" in estimator.get_params():
        estimator.set_params(n_jobs=job.threads)
    estimator.set_params(callback=display.solving(estimator.tol))
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X)
    # single precision is kept and cut, so that a rerun from the kept file gives the same labels
    return Solved(
        np.asarray(estimator.coef_, dtype=np.float32),
        float(estimator.objective_),
        float(estimator.dual_gap_),
        int(estimator.n_iter_),
        tuple(estimator.history_),
        time.perf_counter() - start,
        tuple(dict.fromkeys(str(warning.message) for warning in caught)),
        {name: getattr(estimator, f"{name}_") for name, given in parameters.items() if given == "auto"},
    )


def _cut(
    settings: Settings, recording: Recording, X: Array, solved: Solved, chain: Chain, truth: Truth | None
) -> Findings:
    """Label the samples, and tell how sure each boundary is."""
    rows = chain.rows(len(recording))
    counts: dict[str, Any] = {
        "n_subspaces": parse_count("--subspaces", settings.subspaces, tuple(ESTIMATORS)),
        "n_spans": parse_count("--spans", settings.spans, ("auto",)),
    }
    for name, count in counts.items():
        if isinstance(count, int) and count > len(rows):
            raise ValueError(
                f"{recording.source}: {name} must be at most {len(rows)}, its samples; got {count}."
            )
    if settings.cut == "ordered":
        check_room(len(rows), counts["n_spans"], counts["n_subspaces"], MIN_LENGTH)
    columns = scale_columns(np.ascontiguousarray(X.T))
    found = segment(solved.Z, columns, cut=settings.cut, rng=np.random.default_rng(settings.seed), **counts)
    findings = Findings(
        recording=recording,
        X=columns,
        solved=solved,
        labels=found.labels,
        boundaries=rows[found.boundaries],
        n_subspaces=found.n_subspaces,
        rows=rows,
        cut=settings.cut,
        true_labels=None if truth is None else truth.labels,
        true_names=() if truth is None else truth.names,
    )
    return replace(findings, labels=findings.to_samples(found.labels))


def _describe(job: Job, findings: Findings, chain: Chain, truth: Truth | None) -> dict[str, Any]:
    """Put together what ``result.json`` says, the times of the last stages aside."""
    recording, solved = findings.recording, findings.solved
    about_input = {
        "path": recording.source,
        "kind": recording.kind,
        "n_samples": len(recording),
        "n_features": int(recording.X.shape[1]),
        "time_unit": recording.time_unit,
        "read_options": dict(recording.read_options),
        "notes": list(recording.notes),
    }
    return {
        "input": about_input,
        "settings": asdict(job.settings),
        "parameters": _effective_parameters(job.settings) | solved.chosen,
        "preprocessing": {"steps": list(chain.records()), "reasons": list(chain.reasons)},
        "n_subspaces": findings.n_subspaces,
        "n_spans": len(findings.boundaries) + 1,
        "objective": solved.objective,
        "gap": solved.gap,
        "n_iter": solved.n_iter,
        "warnings": list(solved.warnings),
        "scores": {} if truth is None else score(truth, findings.labels, findings.boundaries),
        "command": job.settings.to_command(str(job.source)),
        "versions": versions(),
    }


def _effective_parameters(settings: Settings) -> dict[str, Any]:
    """The estimator's parameters that bear on Z, the library's defaults included."""
    known = METHODS[settings.method](**model_parameters(settings)).get_params()
    return {name: known[name] for name in BEARING if name in known}


def versions() -> dict[str, str]:
    """Versions of this program, Python, and the packages that compute."""
    found = {"seqspan": seqspan.__version__, "python": platform.python_version()}
    return found | {package: version(package) for package in PACKAGES}


def _write(job: Job, findings: Findings, display: Display) -> None:
    """Write all files of the result, then let them appear together."""
    times = findings.recording.times
    spans = make_spans(findings.labels, findings.boundaries, times, findings.confidence)
    document = dict(findings.document)
    with staged(job.folder) as staging:
        write_segments(staging / SEGMENTS, spans)
        write_labels(staging / LABELS, findings.labels, times)
        timeline = make_timeline(findings.recording, spans)
        with display.stage("exporting"):
            for name in parse_exports(job.settings.export):
                write_export(name, timeline, staging / f"spans{EXPORTS[name].suffix}")
            if job.settings.split:
                (staging / "split").mkdir()
                document["split"] = [asdict(piece) for piece in split_video(timeline, staging / "split")]
        document["seconds"] = dict(display.seconds) | {"solver": findings.solved.seconds}
        with display.stage("report"):
            text = build_report(replace(findings, document=document))
            (staging / REPORT).write_text(text, encoding="utf-8")
        document["seconds"] |= display.seconds
        (staging / DOCUMENT).write_text(json.dumps(document, default=str), encoding="utf-8")
