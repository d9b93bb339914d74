"""C3D motion capture, mostly of markers, read by ezc3d in its own process."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from seqspan._core.checks import check_choice
from seqspan._core.extras import require_optional
from seqspan._core.types import Array
from seqspan.readers._c3d_parameters import check_parameters
from seqspan.readers._errors import DAMAGED_CHOICES, KEEP_DAMAGED
from seqspan.readers._isolated import run_isolated
from seqspan.readers._limits import check_bytes
from seqspan.readers._missing import MISSING_CHOICES, resolve_missing
from seqspan.readers._registry import Reader
from seqspan.recording import PoseView, Recording

BLOCK = 512  # bytes
MAGIC = 0x50
MAX_PARAMETER_BYTES = 255 * BLOCK  # the number of blocks is stored in one byte
LONG_RECORDING = 65535  # last frame in the header of a recording whose length is stored elsewhere
# Byte order, and position of the header byte that holds the sign of the scale: Intel, DEC, MIPS.
PROCESSORS = {84: ("<", 15), 85: ("<", 13), 86: (">", 12)}
AXES = "xyz"


@dataclass(frozen=True)
class C3dOptions:
    """What to do about markers out of sight and incomplete files.

    Parameters
    ----------
    missing : {"interpolate", "drop", "error"}
        If a marker is out of sight: interpolate linearly, skip the frames, or raise. Markers that are never
        in sight are left out.
    damaged : {"error", "keep"}
        Whether a file that ends inside a frame is an error, or is read up to there.
    """

    missing: str = "interpolate"
    damaged: str = "error"

    def __post_init__(self) -> None:
        check_choice("missing", self.missing, MISSING_CHOICES)
        check_choice("damaged", self.damaged, DAMAGED_CHOICES)


def load_c3d(path: Path, options: C3dOptions, max_bytes: int) -> Recording:
    """Read the markers of a recording, or the rotations of its rigid bodies if it has no markers."""
    require_optional("ezc3d", "reading C3D files")
    notes = check_header(path, options, max_bytes)
    arrays, about = run_isolated("c3d", path, max_bytes)
    points, rotations = arrays["points"], arrays["rotations"]
    if points.size:
        names = _labels(about["labels"], points.shape[1])
        return _markers_to_recording(points.transpose(2, 1, 0), names, about, options).with_notes(*notes)
    if rotations.size:
        names = _labels(about["rotation_labels"], rotations.shape[2])
        matrices = rotations.transpose(3, 2, 0, 1)
        return _rotations_to_recording(matrices, names, about, options).with_notes(*notes)
    raise ValueError("the file holds neither markers nor rotations.")


def check_header(path: Path, options: C3dOptions, max_bytes: int) -> list[str]:
    """Compare the header with the size of the file, before native code relies on it; return notes."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(BLOCK)
        if not looks_like_c3d(head):
            raise ValueError("expected a C3D header: 512 bytes, the second of which is 0x50.")
        file.seek((head[0] - 1) * BLOCK)
        parameters = file.read(MAX_PARAMETER_BYTES)
    if len(parameters) < 4 or parameters[3] not in PROCESSORS:
        raise ValueError("the C3D parameters are damaged or lie outside the file.")
    order, sign_byte = PROCESSORS[parameters[3]]
    n_points, n_analogs, first, last = struct.unpack(f"{order}4H", head[2:10])
    (data_block,) = struct.unpack(f"{order}H", head[16:18])
    check_parameters(parameters[4:], order)
    width = 4 if head[sign_byte] & 0x80 else 2  # a negative scale means floats
    n_frames = max(last - first + 1, 0)
    frame_bytes = width * (4 * n_points + n_analogs)
    check_bytes(n_frames * frame_bytes * 8 // width, max_bytes, "the content")
    held = size - (data_block - 1) * BLOCK
    if n_frames * frame_bytes <= held or last == LONG_RECORDING:
        return []
    return _note_missing_frames(n_frames, held, frame_bytes, options)


def _note_missing_frames(n_frames: int, held: int, frame_bytes: int, options: C3dOptions) -> list[str]:
    """Raise if the file ends inside a frame; note the missing frames if it ends after one."""
    problem = f"the header says {n_frames} frames, but the file ends after {max(held, 0) / frame_bytes:.4g}"
    ends_inside_frame = held < frame_bytes or held % frame_bytes
    if ends_inside_frame and options.damaged == "error":
        raise ValueError(f"the recording is incomplete: {problem}; {KEEP_DAMAGED}")
    return [problem]


def _labels(given: list[str], count: int) -> tuple[str, ...]:
    """Return the names in the file; points without a name are numbered."""
    names = [str(name).strip() or f"point{number}" for number, name in enumerate(given[:count])]
    return tuple(names + [f"point{number}" for number in range(len(names), count)])


def _markers_to_recording(
    positions: Array, markers: tuple[str, ...], about: dict[str, object], options: C3dOptions
) -> Recording:
    """Make a recording from markers of shape (n_frames, n_markers, 3)."""
    names = tuple(f"{marker}.{axis}" for marker in markers for axis in AXES)
    notes = [f"left out {about['n_analogs']} analog channels"] if about["n_analogs"] else []
    recording = _to_recording(
        positions.reshape(len(positions), -1), names, about["point_rate"], options, notes
    )
    kept = tuple(dict.fromkeys(_marker_of(name) for name in recording.feature_names))
    shown = recording.X.reshape(len(recording), len(kept), 3).astype(np.float32)
    return replace(recording, view=PoseView(shown, kept))


def _rotations_to_recording(
    matrices: Array, bodies: tuple[str, ...], about: dict[str, object], options: C3dOptions
) -> Recording:
    """Make a recording from the three rows that vary of matrices of shape (n_frames, n_bodies, 4, 4)."""
    names = tuple(f"{body}.{row}{column}" for body in bodies for row in range(3) for column in range(4))
    rates = about["rotation_rate"]
    rate = rates[0] if isinstance(rates, list) and rates else about["point_rate"]
    X = matrices[:, :, :3].reshape(len(matrices), -1)
    notes = ["no markers: the features are the rotations and positions of rigid bodies"]
    return _to_recording(X, names, rate, options, notes)


def _marker_of(name: str) -> str:
    """Return the marker that a coordinate belongs to."""
    return name.rpartition(".")[0]


def _to_recording(
    X: Array, names: tuple[str, ...], rate: object, options: C3dOptions, notes: list[str]
) -> Recording:
    """Resolve missing values and add times."""
    complete = resolve_missing(X, names, options.missing, group=_marker_of)
    unit = "s"
    if not isinstance(rate, float) or not 0 < rate < float("inf"):
        rate, unit = 1.0, "sample"
        notes = [*notes, "the frame rate is not a positive number, so times count frames"]
    return Recording(
        X=complete.X,
        times=complete.rows / rate,
        rows=complete.rows,
        time_unit=unit,
        feature_names=complete.names,
        kind="mocap",
        notes=(*notes, *complete.notes),
    )


def looks_like_c3d(head: bytes) -> bool:
    """Recognise C3D by its second byte and the position of its parameters."""
    return len(head) >= BLOCK and head[1] == MAGIC and 2 <= head[0] <= 16


READERS = (
    Reader(
        name="c3d",
        title="a C3D recording",
        extensions=(".c3d",),
        options=C3dOptions,
        load=load_c3d,
        matches=looks_like_c3d,
    ),
)
