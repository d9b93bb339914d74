"""Files that are damaged or made to harm: one error with the file's name, in little time and memory.

The long run is ``python -m benchmarks.readers fuzz --variants 200``.
"""

from __future__ import annotations

import gzip
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.readers.corrupted import corrupt
from tests.readers.samples import WRITERS, write_png, write_sample

from seqspan.readers import _isolated, _streams, images, read, video

TEXT_FORMATS = ("amc", "asf", "bvh", "csv", "text-spectra", "envi")
# What the text formats reserve, and what breaks them.
WORDS = (
    *(
        ":root",
        ":bonedata",
        ":hierarchy",
        "begin",
        "end",
        "name",
        "axis",
        "order",
        "XYZ",
        "root",
        "1",
        "-3e400",
    ),
    *("HIERARCHY", "ROOT", "{", "}", "OFFSET", "CHANNELS", "3", "MOTION", "Frames:", "Frame", "Time:", "nan"),
    *("ENVI", "=", "samples", "lines", "bands", "wavelength", ",", ";", '"', "\n", "\n", "\n", "\x00", "ü"),
)
ISOLATED = (
    "c3d",
    "mat73",
    "parquet",
    "feather",
    "mp4",
    "avi",
    "gif",
    "tiff",
    "png",
)  # a process for each, so fewer of them


def read_damaged(name: str, content: bytes) -> None:
    """Read `content` as a file of the format; all but ValueError and OSError with its name is a failure."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_sample(name, Path(folder))
        path.write_bytes(content)
        try:
            read(path)
        except (ValueError, OSError) as error:
            assert path.name in str(error)  # noqa: PT017 - whether it raises is open


def sample_bytes(name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return write_sample(name, Path(folder)).read_bytes()


@pytest.mark.parametrize("name", WRITERS)
def test_damaged_files_end_in_one_named_error(name):
    content = sample_bytes(name)
    heads = [sample_bytes(other) for other in ("npy", "csv", "mp4", "c3d") if other != name]

    @settings(max_examples=6 if name in ISOLATED else 20, deadline=None, database=None)
    @given(seed=st.integers(0, 10**6))
    def check(seed: int) -> None:
        read_damaged(name, corrupt(content, heads[seed % len(heads)], seed))

    check()


@settings(max_examples=60, deadline=None, database=None)
@given(name=st.sampled_from(TEXT_FORMATS), content=st.binary(max_size=300))
@example(name="csv", content=b'"')
@example(name="csv", content=b"\xff\xfe\x00")
@example(name="csv", content=b"a,a\n1,2\n")
@example(name="amc", content=b":DEGREES\n1\nroot\n")
@example(name="asf", content=b":root\norder\naxis\n:bonedata\nname\n")
@example(name="bvh", content=b"HIERARCHY\nFrames:\n")
@example(name="envi", content=b"ENVI\nsamples = {")
def test_any_bytes_in_the_text_formats(name, content):
    read_damaged(name, content)


@settings(max_examples=80, deadline=None, database=None)
@given(name=st.sampled_from(TEXT_FORMATS), text=st.lists(st.sampled_from(WORDS), max_size=60))
def test_any_words_of_the_text_formats(name, text):
    read_damaged(name, " ".join(text).encode())


GROWTH = """
import sys
from pathlib import Path
from seqspan.readers import read

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

path = Path(sys.argv[1])
before = peak()
try:
    read(path)
except (ValueError, OSError) as error:
    assert path.name in str(error)
    print(peak() - before)
"""


def peak_growth(path: Path) -> float:
    """Read a file that must be refused in a fresh process; return by how many bytes its peak memory grew."""
    done = subprocess.run([sys.executable, "-c", GROWTH, str(path)], capture_output=True, check=True)
    return float(done.stdout)


@pytest.mark.parametrize("name", ["bomb.amc.gz", "bomb.csv.gz"])
def test_packed_bombs_are_not_unpacked(tmp_path, name):
    head = b":FULLY-SPECIFIED\n:DEGREES\n1\n" if "amc" in name else b"a,b\n"
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    line = b"root 1 2 3 4 5 6\n" if "amc" in name else b"1,2\n"
    block = line * 2**18
    with (tmp_path / name).open("wb") as file:
        file.write(packer.compress(head))
        for _ in range(80):
            file.write(packer.compress(block))
        file.write(packer.flush())
    limit = {"max_bytes": 2**20}
    with pytest.raises(ValueError, match=r"limit of 1\.05 MB"):
        read(tmp_path / name, **limit)


def test_a_line_without_end_is_refused_early(tmp_path):
    (tmp_path / "long.amc.gz").write_bytes(gzip.compress(b":DEGREES\n1\nroot " + b"1 " * 2**22))
    assert peak_growth(tmp_path / "long.amc.gz") < 50e6


def test_an_archive_whose_entry_claims_more_than_fits(tmp_path):
    path = tmp_path / "bomb.npz"
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 100000), }".ljust(117) + "\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "X.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + b"\0" * 10**6
        )
    assert peak_growth(path) < 50e6


def test_a_picture_of_too_many_pixels_is_not_decoded(tmp_path):
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 9_000, 9_000, 8, 0, 0, 0, 0)  # Pillow itself takes up to 13,000
    pixels = zlib.compress(b"\0" * 10**6)
    content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    (tmp_path / "bomb.png").write_bytes(content)
    with pytest.raises(
        ValueError, match=r"bomb\.png: images may have up to 67108864 pixels; got 9000 x 9000"
    ):
        read(tmp_path / "bomb.png")


def test_a_matlab_variable_larger_than_the_limit_is_not_loaded(tmp_path):
    import scipy.io

    scipy.io.savemat(tmp_path / "zeros.mat", {"data": np.zeros((3000, 1000))}, do_compression=True)
    with pytest.raises(ValueError, match=r"zeros\.mat: the variables data would take 24 MB"):
        read(tmp_path / "zeros.mat", max_bytes=10**7)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("import os; os.abort()", "the parser crashed"),
        ("import time; time.sleep(60)", "the parser hung for"),
        ("import sys; sys.exit(0)", "the parser crashed"),
    ],
)
def test_a_native_parser_that_breaks_down_takes_nobody_along(tmp_path, monkeypatch, script, message):
    path = write_sample("c3d", tmp_path)
    (tmp_path / "script.py").write_text(script)
    monkeypatch.setattr(_isolated, "SCRIPT", tmp_path / "script.py")
    # on a busy machine, Python takes long enough to start
    monkeypatch.setattr(_isolated, "BASE_SECONDS", 1.0 if "hung" in message else 600.0)
    with pytest.raises((ValueError, OSError), match=rf"markers\.c3d.*({message})"):
        read(path)


def test_a_native_parser_gets_no_more_memory_than_its_limit(tmp_path, monkeypatch):
    path = write_sample("c3d", tmp_path)
    monkeypatch.setattr(_isolated, "USUAL_BASE_MEMORY", 2**26)  # too little for NumPy alone
    with pytest.raises(ValueError, match=r"markers\.c3d: (the parser crashed|could not be parsed)"):
        read(path, max_bytes=10**6)


# What the other process does instead of decoding; it has sent the number of the first file before.
BREAK_DOWNS = {
    "os.abort()": "the decoder crashed (status -6)",
    "os._exit(0)": "the decoder crashed (status 0)",
    "os.kill(os.getpid(), 11)": "the decoder crashed (status -11)",
    "os.write(channel._file.fileno(), b'f'); os._exit(0)": "crashed (status 0)",
    "time.sleep(3600)": "the decoder made no progress for 2 s",
    "bytearray(2**34)": "does not fit in memory",
    "sys.setrecursionlimit(50); (lambda f: f(f))(lambda f: f(f))": "(RecursionError)",
    "print('noise', flush=True); raise OSError(5, 'Input/output error')": "Input/output error",
}


@pytest.fixture
def broken_decoder(tmp_path, monkeypatch):
    """Replace the decoders of the other process by a line of Python."""

    def install(line, stall_seconds=600):
        (tmp_path / "broken_decoder.py").write_text(
            "import os, sys, time\ndef work(channel, **request):\n"
            "    channel.send_file(0) if 'files' in request else None\n"
            f"    {line}\n"
        )
        monkeypatch.setattr(
            _streams, "START", f"import sys; sys.path.append({str(tmp_path)!r}); {_streams.START}"
        )
        for module in (images, video):
            monkeypatch.setattr(module, "DECODE", "broken_decoder:work")
        monkeypatch.setattr(video, "PROBE", "broken_decoder:work")
        monkeypatch.setattr(_streams, "STALL_SECONDS", stall_seconds)

    return install


@pytest.mark.parametrize("name", ["mp4", "png"])
@pytest.mark.parametrize(("line", "message"), BREAK_DOWNS.items())
def test_a_decoder_that_breaks_down_takes_nobody_along(tmp_path, broken_decoder, name, line, message):
    path = write_sample(name, tmp_path)
    broken_decoder(line, 2 if "no progress" in message else 600)  # a busy machine may take seconds to start
    with pytest.raises((ValueError, OSError), match=rf"{re.escape(path.name)}.*{re.escape(message)}"):
        read(path)


def test_the_picture_that_breaks_a_decoder_is_named(tmp_path, broken_decoder):
    for number in range(3):
        write_png(tmp_path / f"{number}.png")
    broken_decoder("channel.send_file(2); os.abort()")
    with pytest.raises(ValueError, match=r"2\.png: the decoder crashed"):
        read(tmp_path, format="images")


def test_a_decoder_that_takes_its_time_is_left_alone(tmp_path, broken_decoder, monkeypatch):
    broken_decoder(
        "import numpy as np\n    from seqspan.readers._decoder import beat\n"
        "    for _ in range(40):\n        time.sleep(0.1)\n        beat()\n"
        "    channel.send_frame(0.0, np.zeros((96, 129), np.uint8))\n    return [0.0]"
    )
    messages = _streams.stream("broken_decoder:work", files=[str(write_sample("png", tmp_path))])
    assert isinstance(next(messages), _streams.FileBegins)  # it has started, however long that took
    monkeypatch.setattr(_streams, "STALL_SECONDS", 2)
    frame, result = messages
    assert frame.pixels.shape == (96, 129)
    assert result.about == [0.0]


def test_no_decoder_is_left_behind(tmp_path):
    path = write_sample("mp4", tmp_path)
    messages = _streams.stream(video.DECODE, path=str(path), selection=video.VideoOptions().selection)
    next(messages)
    messages.close()
    with pytest.raises(ValueError, match="the frames would take"):
        read(path, max_bytes=20_000)
    children = Path("/proc/self/task", str(os.getpid()), "children").read_text().split()
    names = [Path("/proc", child, "cmdline").read_text() for child in children]
    assert not [name for name in names if "_decoder" in name]


def test_decoding_loads_neither_ffmpeg_nor_pillow_here(tmp_path):
    paths = [str(write_sample(name, tmp_path)) for name in ("mp4", "png")]
    code = (
        "import sys; from seqspan.readers import read; [read(path) for path in sys.argv[1:]];"
        "print([name for name in ('av', 'PIL') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.data
def test_the_recording_on_which_ezc3d_ends_its_process_is_an_error(tmp_path, data_dir):
    content = (data_dir / "formats" / "C3DRotationExample.c3d").read_bytes()
    path = tmp_path / "rotations.c3d"
    path.write_bytes(content[: len(content) * 4 // 5])
    with pytest.raises(ValueError, match=r"rotations\.c3d: the parser crashed \(status -6\)"):
        read(path)
