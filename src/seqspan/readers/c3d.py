"""Motion capture by markers: C3D through ezc3d, in a process of its own."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from seqspan._core.extras import require_optional
from seqspan._core.types import Array
from seqspan.readers._c3d_parameters import check_parameters
from seqspan.readers._isolated import run_isolated
from seqspan.readers._limits import check_bytes
from seqspan.readers._missing import CHOICES, require_choice, resolve_missing
from seqspan.readers._registry import Reader
from seqspan.recording import PoseView, Recording

BLOCK = 512
MAGIC = 0x50
MAX_PARAMETER_BYTES = 255 * BLOCK  # the section counts its blocks in one byte
# Byte order, and the byte of the header with the sign of the scale: Intel, DEC, MIPS.
PROCESSORS = {84: ("<", 15), 85: ("<", 13), 86: (">", 12)}
AXES = "xyz"


@dataclass(frozen=True)
class C3dOptions:
    """What happens where markers are out of sight or frames are lost.

    Parameters
    ----------
    missing : {"interpolate", "drop", "error"}
        Fill linearly, leave out the frames, or raise; markers that are never in sight are left out.
    damaged : {"error", "keep"}
        Whether a recording that is torn inside a frame is an error, or is read as far as it goes.
    """

    missing: str = "interpolate"
    damaged: str = "error"

    def __post_init__(self) -> None:
        require_choice("missing", self.missing, CHOICES)
        require_choice("damaged", self.damaged, ("error", "keep"))


def load_c3d(path: Path, options: C3dOptions, max_bytes: int) -> Recording:
    """Read the markers of a recording, or the rotations of its segments where it has no markers."""
    require_optional("ezc3d", "reading C3D files")
    notes = check_header(path, options, max_bytes)
    arrays, about = run_isolated("c3d", path, max_bytes)
    points, rotations = arrays["points"], arrays["rotations"]
    if points.size:
        names = _labels(about["labels"], points.shape[1])
        return _marker_sequence(points.transpose(2, 1, 0), names, about, options).with_notes(*notes)
    if rotations.size:
        names = _labels(about["rotation_labels"], rotations.shape[2])
        return _rotation_sequence(rotations.transpose(3, 2, 0, 1), names, about, options).with_notes(*notes)
    raise ValueError("expected markers or rotations; it holds neither.")


def check_header(path: Path, options: C3dOptions, max_bytes: int) -> list[str]:
    """Compare what the header claims with the size of the file, before native code believes it."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(BLOCK)
        if not looks_like_c3d(head):
            raise ValueError("expected a C3D recording: a header of 512 bytes with 0x50 in its second byte.")
        file.seek((head[0] - 1) * BLOCK)
        parameters = file.read(MAX_PARAMETER_BYTES)
    if len(parameters) < 4 or parameters[3] not in PROCESSORS:
        raise ValueError("expected a C3D recording: its parameters lie outside the file or are damaged.")
    order, sign_byte = PROCESSORS[parameters[3]]
    n_points, n_analogs, first, last = struct.unpack(f"{order}4H", head[2:10])
    (data_block,) = struct.unpack(f"{order}H", head[16:18])
    check_parameters(parameters[4:], order)
    width = 4 if head[sign_byte] & 0x80 else 2  # a negative scale means floats
    n_frames = max(last - first + 1, 0)
    frame_bytes = width * (4 * n_points + n_analogs)
    check_bytes(n_frames * frame_bytes * 8 // width, max_bytes, "its content")
    held = size - (data_block - 1) * BLOCK
    if n_frames * frame_bytes <= held or last == 65535:  # longer recordings count their frames elsewhere
        return []
    return _cut_notes(n_frames, held, frame_bytes, options)


def _cut_notes(n_frames: int, held: int, frame_bytes: int, options: C3dOptions) -> list[str]:
    """Tell a recording that was cut after a whole frame, which is usable, from one that is torn."""
    problem = f"its header counts {n_frames} frames, but it breaks off after {max(held, 0) / frame_bytes:.4g}"
    torn = held < frame_bytes or held % frame_bytes
    if torn and options.damaged == "error":
        raise ValueError(f"expected a whole C3D recording, but {problem}; damaged='keep' uses what there is.")
    return [problem]


def _labels(given: list[str], count: int) -> tuple[str, ...]:
    """Take the file's names, with numbers where it has too few."""
    names = [str(name).strip() or f"point{number}" for number, name in enumerate(given[:count])]
    return tuple(names + [f"point{number}" for number in range(len(names), count)])


def _marker_sequence(
    places: Array, markers: tuple[str, ...], about: dict[str, object], options: C3dOptions
) -> Recording:
    """Dress markers (n_frames, n_markers, 3) as a recording."""
    names = tuple(f"{marker}.{axis}" for marker in markers for axis in AXES)
    notes = [f"{about['n_analogs']} analog channels were left out"] if about["n_analogs"] else []
    recording = _sequence(places.reshape(len(places), -1), names, about["point_rate"], options, notes)
    kept = tuple(dict.fromkeys(_owner(name) for name in recording.feature_names))
    positions = recording.X.reshape(len(recording), len(kept), 3).astype(np.float32)
    return replace(recording, view=PoseView(positions, kept))


def _rotation_sequence(
    matrices: Array, segments: tuple[str, ...], about: dict[str, object], options: C3dOptions
) -> Recording:
    """Dress 4 x 4 matrices (n_frames, n_segments, 4, 4) as a recording: the three rows that vary."""
    names = tuple(
        f"{segment}.{row}{column}" for segment in segments for row in range(3) for column in range(4)
    )
    rates = about["rotation_rate"]
    rate = rates[0] if isinstance(rates, list) and rates else about["point_rate"]
    X = matrices[:, :, :3].reshape(len(matrices), -1)
    notes = ["it holds no markers: the features are the rotations and places of its segments"]
    return _sequence(X, names, rate, options, notes)


def _owner(name: str) -> str:
    """Return the marker of a coordinate."""
    return name.rpartition(".")[0]


def _sequence(
    X: Array, names: tuple[str, ...], rate: object, options: C3dOptions, notes: list[str]
) -> Recording:
    """Fill the gaps and add times."""
    complete = resolve_missing(X, names, options.missing, owner=_owner)
    unit = "s"
    if not isinstance(rate, float) or not 0 < rate < float("inf"):
        rate, unit = 1.0, "sample"
        notes = [*notes, "its frame rate is not a positive number: times count frames"]
    return Recording(
        X=complete.X,
        times=complete.rows / rate,
        time_unit=unit,
        feature_names=complete.names,
        kind="mocap",
        notes=(*notes, *complete.notes),
    )


def looks_like_c3d(head: bytes) -> bool:
    """Tell C3D by its second byte and the place of its parameters."""
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
