"""Files written byte by byte from the specifications of their formats."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

#: Types of a MATLAB 5 file by NumPy's code: class of the array, and type of the numbers.
MATLAB_TYPES = {"f8": (6, 9), "f4": (7, 7), "i1": (8, 1), "u1": (9, 2), "i2": (10, 3), "u2": (11, 4)}
MATLAB_TYPES |= {"i4": (12, 5), "u4": (13, 6), "i8": (14, 12), "u8": (15, 13)}
ENVI_TYPES = {"u1": 1, "i2": 2, "i4": 3, "f4": 4, "f8": 5, "u2": 12, "u4": 13, "i8": 14, "u8": 15}


def write_npy(path: Path, values: np.ndarray, *, version: int = 1, order: str = "<") -> None:
    """NEP 1: magic, version, length of the header, header, bytes of the array."""
    about = {
        "descr": values.dtype.newbyteorder(order).str,
        "fortran_order": bool(values.flags.f_contiguous and not values.flags.c_contiguous),
        "shape": values.shape,
    }
    length = struct.calcsize("<6s2B" + ("H" if version == 1 else "I"))
    header = repr(about).encode() + b"\n"
    header = header.rjust(64 * -(-(length + len(header)) // 64) - length)
    packed = struct.pack("<H" if version == 1 else "<I", len(header))
    body = values.astype(values.dtype.newbyteorder(order)).tobytes("A")
    path.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + packed + header + body)


def write_mat4(path: Path, name: str, values: np.ndarray) -> None:
    """Level 4: five integers, the name, the columns as doubles; in the byte order of Intel."""
    head = struct.pack("<5i", 0, *values.shape, 0, len(name) + 1)
    path.write_bytes(head + name.encode() + b"\0" + values.astype("<f8").tobytes("F"))


def write_mat5(path: Path, name: str, values: np.ndarray, *, packed: bool) -> None:
    """Level 5: a header of 128 bytes, and one array of elements with tags."""
    code = values.dtype.str[1:]
    kind, number = MATLAB_TYPES[code]
    parts = [
        _element(6, struct.pack("<2I", kind, 0)),
        _element(5, struct.pack("<2i", *values.shape)),
        _element(1, name.encode()),
        _element(number, values.astype(f"<{code}").tobytes("F")),
    ]
    array = _element(14, b"".join(parts))
    if packed:
        content = zlib.compress(array)
        array = struct.pack("<2I", 15, len(content)) + content
    path.write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H2s", 0x0100, b"IM") + array)


def _element(kind: int, data: bytes) -> bytes:
    """A tag and its data, padded to eight bytes."""
    return struct.pack("<2I", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def write_envi(path: Path, cube: np.ndarray, *, interleave: str, order: int, offset: int) -> None:
    """A header in text, and the pixels of a cube (lines, samples, bands)."""
    axes = {"bsq": (2, 0, 1), "bil": (0, 2, 1), "bip": (0, 1, 2)}[interleave]
    lines, samples, bands = cube.shape
    code = cube.dtype.str[1:]
    pixels = cube.transpose(axes).astype(f"{'<>'[order]}{code}")
    path.with_suffix(".dat").write_bytes(b"\x55" * offset + pixels.tobytes())
    path.write_text(
        f"ENVI\nsamples = {samples}\nlines = {lines}\nbands = {bands}\nheader offset = {offset}\n"
        f"data type = {ENVI_TYPES[code]}\ninterleave = {interleave.upper()}\nbyte order = {order}\n"
    )


def write_png(path: Path, picture: np.ndarray) -> None:
    """Grey or colour, no filter."""
    height, width = picture.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in picture)
    header = struct.pack(">2I5B", width, height, 8, 0 if picture.ndim == 2 else 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def write_pnm(path: Path, picture: np.ndarray) -> None:
    """Portable grey map or pixel map, binary."""
    magic = "P5" if picture.ndim == 2 else "P6"
    path.write_bytes(f"{magic}\n{picture.shape[1]} {picture.shape[0]}\n255\n".encode() + picture.tobytes())


def write_bmp(path: Path, picture: np.ndarray) -> None:
    """Windows bitmap: rows from the bottom, blue first, padded to four bytes."""
    colour = np.repeat(picture[..., None], 3, axis=2) if picture.ndim == 2 else picture[..., ::-1]
    height, width = picture.shape[:2]
    rows = b"".join(row.tobytes() + b"\0" * (-3 * width % 4) for row in colour[::-1])
    about = struct.pack("<I2i2H6I", 40, width, height, 1, 24, 0, len(rows), 2835, 2835, 0, 0)
    path.write_bytes(b"BM" + struct.pack("<I2HI", 54 + len(rows), 0, 0, 54) + about + rows)


def write_tiff(path: Path, picture: np.ndarray) -> None:
    """One strip, not compressed, in the byte order of Motorola."""
    height, width = picture.shape[:2]
    colour = picture.ndim == 3
    tags = [(256, 4, width), (257, 4, height), (258, 3, 8 << 16), (259, 3, 1 << 16)]
    tags += [(262, 3, (2 if colour else 1) << 16), (273, 4, 8), (277, 3, (3 if colour else 1) << 16)]
    tags += [(278, 4, height), (279, 4, picture.size)]
    directory = struct.pack(">H", len(tags)) + b"".join(struct.pack(">2H2I", a, b, 1, c) for a, b, c in tags)
    pixels = picture.tobytes() + b"\0" * (picture.size % 2)
    if colour:  # three numbers of bits do not fit into the entry, but all are 8, which is the first
        directory = directory.replace(struct.pack(">2H2I", 258, 3, 1, 8 << 16), b"")
        bits = struct.pack(">2H2I", 258, 3, 3, 8 + len(pixels) + 2 + 12 * len(tags) + 4)
        entries = directory[2:]
        directory = struct.pack(">H", len(tags)) + entries[:24] + bits + entries[24:]
    tail = struct.pack(">I", 0) + struct.pack(">3H", 8, 8, 8)
    path.write_bytes(b"MM\0*" + struct.pack(">I", 8 + len(pixels)) + pixels + directory + tail)


def write_y4m(path: Path, frames: np.ndarray, rate: tuple[int, int]) -> None:
    """YUV4MPEG2 with grey frames of shape (n, height, width): luma only, not compressed."""
    _, height, width = frames.shape
    head = f"YUV4MPEG2 W{width} H{height} F{rate[0]}:{rate[1]} Ip A1:1 Cmono XCOLORRANGE=FULL\n"
    path.write_bytes(head.encode() + b"".join(b"FRAME\n" + frame.tobytes() for frame in frames))


def write_bvh(path: Path, rows: np.ndarray, seconds: float) -> None:
    """A root with position and angles, and a leg with angles, in degrees."""
    motion = "\n".join(" ".join(repr(float(value)) for value in row) for row in rows)
    path.write_text(
        "HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 0\n"
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"
        "JOINT Leg\n{\nOFFSET 0 -2 0\n"
        "CHANNELS 3 Zrotation Yrotation Xrotation\nEnd Site\n{\nOFFSET 0 -1 0\n}\n}\n}\n"
        f"MOTION\nFrames: {len(rows)}\nFrame Time: {seconds}\n{motion}\n"
    )


def write_amc(path: Path, rows: np.ndarray) -> None:
    """A root with six numbers and a hip with one."""
    lines = [":FULLY-SPECIFIED", ":DEGREES"]
    for number, row in enumerate(rows.tolist(), 1):
        lines += [str(number), "root " + " ".join(map(repr, row[:6])), f"hip {row[6]!r}"]
    path.write_text("\n".join(lines) + "\n")


def write_c3d(path: Path, points: np.ndarray, rate: float) -> None:
    """Markers of shape (n_frames, n_markers, 3) as floats, in the byte order of Intel."""
    n_frames, n_markers, _ = points.shape
    names = b"".join(f"M{number:03d}".encode() for number in range(n_markers))
    groups = _c3d_group(1, "POINT") + _c3d_group(2, "ANALOG")
    groups += _c3d_parameter(1, "USED", 2, [], struct.pack("<h", n_markers))
    groups += _c3d_parameter(1, "SCALE", 4, [], struct.pack("<f", -1.0))
    groups += _c3d_parameter(1, "RATE", 4, [], struct.pack("<f", rate))
    groups += _c3d_parameter(1, "DATA_START", 2, [], struct.pack("<h", 4))
    groups += _c3d_parameter(1, "FRAMES", 2, [], struct.pack("<h", n_frames))
    groups += _c3d_parameter(1, "LABELS", -1, [4, n_markers], names)
    groups += _c3d_parameter(1, "UNITS", -1, [2], b"mm")
    groups += _c3d_parameter(2, "USED", 2, [], struct.pack("<h", 0))
    header = struct.pack("<BB5Hf3Hf", 2, 0x50, n_markers, 0, 1, n_frames, 0, -1.0, 4, 0, 0, rate)[:24]
    parameters = bytes([1, 0x50, 2, 84]) + groups + b"\0\0"
    residuals = np.zeros((n_frames, n_markers, 1))
    body = np.concatenate([points, residuals], axis=2).astype("<f4").tobytes()
    path.write_bytes(header.ljust(512, b"\0") + parameters.ljust(1024, b"\0") + body)


def _c3d_group(number: int, name: str) -> bytes:
    return struct.pack("<bb", len(name), -number) + name.encode() + struct.pack("<hb", 3, 0)


def _c3d_parameter(group: int, name: str, kind: int, dimensions: list[int], data: bytes) -> bytes:
    body = struct.pack("<bB", kind, len(dimensions)) + bytes(dimensions) + data + b"\0"
    return struct.pack("<bb", len(name), group) + name.encode() + struct.pack("<h", len(body) + 2) + body
