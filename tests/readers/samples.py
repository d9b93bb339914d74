"""Small valid files of every format that is read, written by code that shares nothing with the readers."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import h5py
import numpy as np
import polars as pl
import scipy.io
from PIL import Image

ASF = """# a skeleton with two chains
:version 1.10
:units
  mass 1.0
  length 0.45
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name hip
    direction 0 1 0
    length 2
    axis 0 0 20 XYZ
    dof rx ry rz
  end
  begin
    id 2
    name knee
    direction 0.6 0.8 0
    length 1.5
    axis -90 10 20 XYZ
    dof rx
  end
  begin
    id 3
    name tail
    direction 0 0 1
    length 1
    axis 0 0 0 XYZ
  end
:hierarchy
  begin
    root hip tail
    hip knee
  end
"""


def write_amc(path: Path, n_frames: int = 20) -> None:
    rng = np.random.default_rng(0)
    lines = [":FULLY-SPECIFIED", ":DEGREES"]
    for number in range(1, n_frames + 1):
        values = rng.uniform(-170, 170, 10).round(4).tolist()
        lines += [str(number), "root " + " ".join(map(str, values[:6]))]
        lines += ["hip " + " ".join(map(str, values[6:9])), f"knee {values[9]}"]
    text = "\n".join(lines) + "\n"
    content = text.encode()
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
    path.with_name("skeleton.asf").write_text(ASF)


def write_asf(path: Path) -> None:
    path.write_text(ASF)


def write_bvh(path: Path, n_frames: int = 12) -> None:
    rng = np.random.default_rng(1)
    motion = "\n".join(" ".join(f"{value:.4f}" for value in rng.normal(0, 40, 9)) for _ in range(n_frames))
    path.write_text(
        "HIERARCHY\nROOT Hips\n{\n  OFFSET 0 0 0\n"
        "  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"
        "  JOINT Leg\n  {\n    OFFSET 0 -2 0\n    CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "    End Site\n    {\n      OFFSET 0 -1 0\n    }\n  }\n}\n"
        f"MOTION\nFrames: {n_frames}\nFrame Time: 0.0083333\n{motion}\n"
    )


def write_c3d(path: Path, n_frames: int = 10) -> None:
    """Write four markers as floats, the third out of sight in frame 3, the fourth always."""
    rng = np.random.default_rng(2)
    points = rng.normal(0, 100, (n_frames, 4, 4)).astype("<f4")
    points[..., 3] = 0
    points[3, 2, 3] = points[:, 3, 3] = -1
    groups = _c3d_parameters(n_frames)
    n_blocks = -(-(len(groups) + 4) // 512)
    # The header's fields are words: 2 points, 3 analogs, 4 first, 5 last, 6 gap, 7-8 scale, 9 data start.
    header = struct.pack("<BB5Hf3Hf", 2, 0x50, 4, 0, 1, n_frames, 0, -1.0, 2 + n_blocks, 0, 0, 50.0)[:24]
    parameters = bytes([1, 0x50, n_blocks, 84]) + groups
    path.write_bytes(header.ljust(512, b"\0") + parameters.ljust(512 * n_blocks, b"\0") + points.tobytes())


def _c3d_parameters(n_frames: int) -> bytes:
    """Write the groups POINT and ANALOG with what ezc3d needs."""
    labels = b"".join(name.ljust(4).encode() for name in ("LASI", "RASI", "SACR", "LOST"))
    entries = [
        _c3d_group(1, "POINT"),
        _c3d_parameter(1, "USED", 2, [], struct.pack("<h", 4)),
        _c3d_parameter(1, "SCALE", 4, [], struct.pack("<f", -1.0)),
        _c3d_parameter(1, "RATE", 4, [], struct.pack("<f", 50.0)),
        _c3d_parameter(1, "DATA_START", 2, [], struct.pack("<h", 3)),
        _c3d_parameter(1, "FRAMES", 2, [], struct.pack("<h", n_frames)),
        _c3d_parameter(1, "LABELS", -1, [4, 4], labels),
        _c3d_parameter(1, "UNITS", -1, [2], b"mm"),
        _c3d_group(2, "ANALOG"),
        _c3d_parameter(2, "USED", 2, [], struct.pack("<h", 0)),
    ]
    return b"".join(entries) + b"\0\0"


def _c3d_group(number: int, name: str) -> bytes:
    return struct.pack("<bb", len(name), -number) + name.encode() + struct.pack("<hb", 3, 0)


def _c3d_parameter(group: int, name: str, kind: int, dimensions: list[int], data: bytes) -> bytes:
    body = struct.pack("<bB", kind, len(dimensions)) + bytes(dimensions) + data + b"\0"
    return struct.pack("<bb", len(name), group) + name.encode() + struct.pack("<h", len(body) + 2) + body


def frames(n_frames: int = 12, height: int = 48, width: int = 64) -> np.ndarray:
    """Draw a bright square that moves from left to right over a slope of grey."""
    pictures = np.tile(np.linspace(0, 120, width, dtype=np.uint8), (n_frames, height, 1))
    for number, picture in enumerate(pictures):
        picture[8:20, 4 * number : 4 * number + 12] = 250
    return pictures


def write_video(path: Path, pictures: np.ndarray | None = None, pts: list[int] | None = None) -> None:
    """Encode pictures at 10 per second, or at the given time stamps in hundredths of a second."""
    pictures = frames() if pictures is None else pictures
    stamps = [10 * number for number in range(len(pictures))] if pts is None else pts
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = pictures.shape[2], pictures.shape[1], "yuv420p"
        stream.codec_context.time_base = Fraction(1, 100)
        for picture, stamp in zip(pictures, stamps, strict=True):
            frame = av.VideoFrame.from_ndarray(picture, "gray")
            frame.pts, frame.time_base = stamp, Fraction(1, 100)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def write_gif(path: Path) -> None:
    first, *rest = [Image.fromarray(picture) for picture in frames()]
    first.save(path, save_all=True, append_images=rest, duration=40)


def write_tiff(path: Path) -> None:
    first, *rest = [Image.fromarray(picture) for picture in frames()]
    first.save(path, save_all=True, append_images=rest)


def write_png(path: Path) -> None:
    Image.fromarray(frames()[0]).save(path)


def matrix(n_rows: int = 20, n_columns: int = 4) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(n_rows, n_columns))


def write_npy(path: Path) -> None:
    np.save(path, matrix())


def write_npz(path: Path) -> None:
    np.savez_compressed(path, X=matrix(), label=np.arange(20) // 5)


def write_mat5(path: Path) -> None:
    scipy.io.savemat(path, {"data": matrix(), "labels": np.arange(20) // 5}, do_compression=True)


def write_mat73(path: Path) -> None:
    with h5py.File(path, "w", userblock_size=512) as file:
        file.create_dataset("data", data=matrix().T, compression="gzip")
        file["labels"] = (np.arange(20.0) // 5)[None]
    content = bytearray(path.read_bytes())
    content[:19] = b"MATLAB 7.3 MAT-file"
    path.write_bytes(content)


def table() -> pl.DataFrame:
    X = matrix()
    return pl.DataFrame({"time_ms": np.arange(20) * 10, "a": X[:, 0], "b": X[:, 1], "note": ["x", "y"] * 10})


def write_parquet(path: Path) -> None:
    table().write_parquet(path)


def write_feather(path: Path) -> None:
    table().write_ipc(path, compression="lz4")


def write_csv(path: Path) -> None:
    table().write_csv(path)


def write_envi(path: Path) -> None:
    cube = np.random.default_rng(4).random((10, 3, 6)).astype("<f4")  # lines, samples, bands
    path.with_suffix(".img").write_bytes(cube.transpose(0, 2, 1).tobytes())  # BIL: line, band, sample
    path.write_text(
        "ENVI\nsamples = 3\nlines = 10\nbands = 6\nheader offset = 0\ndata type = 4\ninterleave = bil\n"
        "byte order = 0\nwavelength units = Nanometers\nwavelength = {400, 410, 420, 430, 440, 450}\n"
        "bbl = {1, 1, 0, 1, 1, 1}\n"
    )


def write_text_spectra(path: Path) -> None:
    rows = [f" {0.4 + 0.01 * band:.3f}  {0.1 + 0.02 * band:.4f}  0.001" for band in range(12)]
    title = "USGS Digital Spectral Library\nQuartz GDS31\nwavelength (um)  reflectance  standard deviation\n"
    path.write_text(title + "\n".join(rows) + "\n")


WRITERS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "amc": ("skeleton_01.amc", write_amc),
    "amc.gz": ("skeleton_01.amc.gz", write_amc),
    "asf": ("alone.asf", write_asf),
    "bvh": ("motion.bvh", write_bvh),
    "c3d": ("markers.c3d", write_c3d),
    "mp4": ("film.mp4", write_video),
    "avi": ("film.avi", write_video),
    "gif": ("film.gif", write_gif),
    "tiff": ("film.tif", write_tiff),
    "png": ("frame.png", write_png),
    "npy": ("array.npy", write_npy),
    "npz": ("arrays.npz", write_npz),
    "mat5": ("variables.mat", write_mat5),
    "mat73": ("variables73.mat", write_mat73),
    "parquet": ("table.parquet", write_parquet),
    "feather": ("table.feather", write_feather),
    "csv": ("table.csv", write_csv),
    "envi": ("core.hdr", write_envi),
    "text-spectra": ("quartz.txt", write_text_spectra),
}


def write_sample(name: str, folder: Path) -> Path:
    """Write the sample of a format and return its path."""
    file, write = WRITERS[name]
    write(folder / file)
    return folder / file
