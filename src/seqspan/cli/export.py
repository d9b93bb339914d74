"""From a result folder to exports: of the spans that were found, or of those that somebody corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from seqspan._core.text import printable
from seqspan.exports.selection import Selection, file_of
from seqspan.readers._limits import check_regular
from seqspan.readers._read import list_files
from seqspan.recording import Recording
from seqspan.results.corrections import read_corrections
from seqspan.results.documents import DOCUMENT, Earlier, read_document
from seqspan.results.fingerprints import hash_file, hash_files
from seqspan.results.folder import LABELS, SEGMENTS, is_unchanged, staged, write_document
from seqspan.results.lock import reserved
from seqspan.results.owner import find_input
from seqspan.results.publish import check_free, describe_kept
from seqspan.results.stored import read_tables
from seqspan.segmentation import Segmentation

EXPORTED = "exported_from"  # what result.json says about the corrected table


@dataclass(frozen=True)
class Exported:
    """What was written.

    Parameters
    ----------
    n_spans : int
    files : tuple of str
        Paths in the folder.
    notes : tuple of str
    """

    n_spans: int
    files: tuple[str, ...]
    notes: tuple[str, ...] = ()


def export_result(folder: Path, asked: Selection, segments: Path | None = None) -> Exported:
    """Write exports to a result folder; those that are there already are written again from the same spans.

    Parameters
    ----------
    folder : path
        A result folder.
    asked : Selection
    segments : path, optional
        A corrected table of spans. By default the folder's own, also if it was edited.

    Returns
    -------
    Exported
    """
    if segments is not None and not segments.exists():
        raise FileNotFoundError(f"{printable(str(segments))}: no such file.")
    if segments is not None:
        check_regular(segments)
    if not Earlier.read(folder).documents:
        raise FileNotFoundError(f"{printable(str(folder))}: no result folder; seqspan segment writes one.")
    with reserved(folder):
        document = _whole_document(folder)
        found, table, notes = _correct(folder, document, segments)
        exports = asked | Selection.from_files(Earlier.read(folder).present)
        if not exports:
            raise ValueError("nothing to export: --export LIST or --split says what to write.")
        recording = _with_input(found.recording, document, folder)
        exports.check(recording)
        check_free(folder, [DOCUMENT, *map(file_of, exports.names)])
        carried = {name: hash for name, hash in document["files"].items() if not Selection.from_files([name])}
        with staged(folder, carried=carried) as staging:
            about = exports.write(recording, found.spans, found.label_names, staging)
            written = sorted(path.relative_to(staging) for path in staging.rglob("*") if path.is_file())
            base = {name: value for name, value in document.items() if name not in ("split", EXPORTED)}
            write_document(staging, base | about | table)
    published = read_document(folder / DOCUMENT) or {}
    files = tuple(path.as_posix() for path in written)
    return Exported(len(found.spans), files, (*notes, *describe_kept(published)))


def _whole_document(folder: Path) -> dict[str, Any]:
    """The result whose spans are to be exported; after a killed run, one whose tables are all there."""
    document = read_document(folder / DOCUMENT)
    if document is not None:
        if "input" in document and is_unchanged(folder, document, LABELS):
            return document
        raise ValueError(
            f"{printable(str(folder))}: {LABELS} is missing or has changed since it was written, so the "
            f"times of samples are not known; run seqspan segment again."
        )
    for document in Earlier.read(folder).documents[::-1]:
        whole = {name: sha for name, sha in document["files"].items() if is_unchanged(folder, document, name)}
        if "input" in document and {LABELS, SEGMENTS} <= set(whole):
            return document | {"files": whole}
    raise ValueError(
        f"{printable(str(folder))}: the last run was stopped while it wrote its files; run seqspan segment "
        f"again."
    )


def _correct(
    folder: Path, document: Mapping[str, Any], segments: Path | None
) -> tuple[Segmentation, dict[str, Any], tuple[str, ...]]:
    """The spans to export, what result.json says about where they come from, and notes."""
    edited = not is_unchanged(folder, document, SEGMENTS)
    found = Segmentation.from_stored(read_tables(folder, document, spans=not edited), document)
    if segments is None and not edited:
        return found, {}, ()
    path = segments or folder / SEGMENTS
    corrections = read_corrections(path, found.recording, found.label_names)
    notes = corrections.notes
    if segments is None:
        notes = (f"{SEGMENTS} was edited: the exports follow it", *notes)
    return found.corrected(corrections), {EXPORTED: {"path": str(path), "sha256": hash_file(path)}}, notes


def _with_input(recording: Recording, document: dict[str, Any], folder: Path) -> Recording:
    """The recording with the path of its input as it is today; an input that has changed is refused."""
    if len(recording.lengths) > 1:
        return recording
    source, about = find_input(document, folder), document["input"]
    if not source.exists():
        if recording.read_options.get("format") == "video":
            raise FileNotFoundError(f"{printable(str(source))}: the film is not there, and exports need it.")
        return recording
    options: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in recording.read_options.items()
    }
    if about.get("sha256") not in (None, hash_files(list_files(source, **options))):
        raise ValueError(f"{printable(str(source))}: has changed since it was segmented; segment it again.")
    return replace(recording, source=str(source))
