"""Every format, written by something that shares no code with its reader: the values are those written."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.readers import foreign

from seqspan.readers import read, read_blocks, readers

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)
MATRICES = arrays(float, st.tuples(st.integers(2, 9), st.integers(2, 4)), elements=NUMBERS)
TYPES = ("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
few = settings(max_examples=20, deadline=None)
fewer = settings(max_examples=5, deadline=None)  # a process for each


@st.composite
def integers_and_floats(draw, types=TYPES):
    """A matrix of one of the types, with its extreme values."""
    kind = np.dtype(draw(st.sampled_from(types)))
    shape = draw(st.tuples(st.integers(2, 9), st.integers(2, 4)))
    if kind.kind == "f":
        elements = st.floats(-1e6, 1e6, width=8 * kind.itemsize)
    else:
        elements = st.integers(np.iinfo(kind).min, np.iinfo(kind).max)
    return draw(arrays(kind, shape, elements=elements))


def written(name, write, *given, **options):
    """Write a file in a new folder and read it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        write(path, *given, **options)
        return read(path)


def test_every_reader_is_compared():
    compared = {"amc", "bvh", "c3d", "csv", "envi", "feather", "images", "mat", "npy", "npz", "parquet"}
    assert {reader.name for reader in readers()} == compared | {
        *("text-spectra", "video"),
        "asf",  # a skeleton, which has no values
    }


@few
@given(
    X=MATRICES,
    separator=st.sampled_from([";", "\t", "|", ","]),
    decimal=st.sampled_from([".", ","]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    packed=st.booleans(),
)
def test_tables_of_pandas(X, separator, decimal, encoding, packed):
    frame = pd.DataFrame(X, columns=[f"größe {number}" for number in range(X.shape[1])])

    def write(path):
        text = frame.to_csv(sep=separator, decimal=decimal, index=False).encode(encoding)
        path.write_bytes(gzip.compress(text) if packed else text)

    try:
        recording = written("table.csv.gz" if packed else "table.csv", write)
    except ValueError as error:
        if "could be a decimal mark" in str(error):  # as for 1,234 beside 12, which nobody can tell
            return
        raise
    np.testing.assert_array_equal(recording.X, X)
    assert recording.feature_names == tuple(frame.columns)


@few
@given(X=MATRICES, quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]))
def test_tables_of_the_standard_library(X, quoting):
    def write(path):
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, quoting=quoting)
            writer.writerow([f"a, {number}" for number in range(X.shape[1])])
            writer.writerows(X.tolist())

    np.testing.assert_array_equal(written("table.csv", write).X, X)


@few
@given(X=MATRICES)
def test_tables_of_numpy(X):
    np.testing.assert_array_equal(written("table.txt", np.savetxt, X, fmt="%.17g").X, X)


@few
@given(
    X=integers_and_floats(),
    version=st.sampled_from([1, 2]),
    order=st.sampled_from("<>"),
    turned=st.booleans(),
)
def test_npy(X, version, order, turned):
    X = np.asfortranarray(X) if turned else X
    np.testing.assert_array_equal(
        written("array.npy", foreign.write_npy, X, version=version, order=order).X, X
    )


@few
@given(X=integers_and_floats(), method=st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
def test_npz(X, method):
    def write(path):
        inner = path.with_name("inner.npy")
        foreign.write_npy(inner, X)
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.write(inner, "X.npy")

    np.testing.assert_array_equal(written("arrays.npz", write).X, X)


@few
@given(X=integers_and_floats(), packed=st.booleans())
def test_matlab_5(X, packed):
    found = written("variables.mat", foreign.write_mat5, "data", X, packed=packed).X
    np.testing.assert_array_equal(found, X)


@few
@given(X=MATRICES)
def test_matlab_4(X):
    np.testing.assert_array_equal(written("variables.mat", foreign.write_mat4, "data", X).X, X)


@fewer
@given(X=integers_and_floats())
def test_matlab_73(X):
    """Nothing else that writes HDF5 is at hand, so h5py writes what MATLAB would: columns first."""

    def write(path):
        with h5py.File(path, "w") as file:
            file.create_dataset("data", data=np.ascontiguousarray(X.T))

    np.testing.assert_array_equal(written("variables.mat", write).X, X)


def arrow_table(X, types):
    arrays_ = [pa.array(column.astype(kind)) for column, kind in zip(X.T, types, strict=True)]
    return pa.table(arrays_, names=[f"x{number}" for number in range(X.shape[1])])


@fewer
@given(
    X=arrays(np.int8, (7, 4)),
    types=st.lists(st.sampled_from(("f8", "f4", "i1", "i2", "i4", "i8")), min_size=4, max_size=4),
    ending=st.sampled_from([".parquet", ".feather", ".arrow"]),
    packing=st.sampled_from(["none", "zstd"]),
)
def test_columns_of_arrow(X, types, ending, packing):
    table = arrow_table(X, types)

    def write(path):
        if ending == ".parquet":
            pa.parquet.write_table(table, path, compression=packing, row_group_size=3)
        elif ending == ".feather":
            pa.feather.write_feather(
                table, str(path), compression={"none": "uncompressed"}.get(packing, packing)
            )
        else:
            with pa.ipc.new_file(str(path), table.schema) as file:
                file.write_table(table, max_chunksize=3)

    recording = written(f"table{ending}", write)
    np.testing.assert_array_equal(recording.X, X)
    assert recording.feature_names == tuple(table.column_names)


def test_dates_and_gaps_of_arrow(tmp_path):
    when = pa.array([0, 1_500_000, 2_000_000], pa.timestamp("us", tz="Europe/Berlin"))
    table = pa.table({"when": when, "a": pa.array([1.5, None, 4.0]), "text": pa.array(["x", "y", "z"])})
    pa.parquet.write_table(table, tmp_path / "table.parquet")
    recording = read(tmp_path / "table.parquet", missing="interpolate")
    assert recording.times.tolist() == [0, 1.5, 2]
    assert recording.X.tolist() == [[1.5], [2.75], [4]]


def test_blocks_of_arrow(tmp_path):
    X = np.random.default_rng(0).standard_normal((25, 3))
    pa.parquet.write_table(arrow_table(X, ["f8"] * 3), tmp_path / "table.parquet", row_group_size=4)
    np.testing.assert_array_equal(np.concatenate(list(read_blocks(tmp_path / "table.parquet", 7))), X)


@few
@given(
    cube=integers_and_floats(("u1", "i2", "i4", "f4", "f8", "u2", "u4")),
    interleave=st.sampled_from(["bsq", "bil", "bip"]),
    order=st.integers(0, 1),
    offset=st.sampled_from([0, 7]),
)
def test_envi(cube, interleave, order, offset):
    cube = np.stack([cube, cube[::-1]], axis=1)  # lines, samples, bands
    options = {"interleave": interleave, "order": order, "offset": offset}
    found = written("core.hdr", foreign.write_envi, cube, **options).X
    np.testing.assert_allclose(found, cube.astype(float).mean(axis=1), rtol=1e-12, atol=1e-9)


@few
@given(X=arrays(float, (4, 6), elements=st.floats(-1e3, 1e3).map(lambda value: round(value, 4))))
def test_text_spectra(X):
    def write(path):
        rows = "\n".join("  ".join(map(repr, row)) for row in np.column_stack([range(1, 7), X.T]).tolist())
        path.write_text(f"Spectrum of a core\nwavelength (nm), reflectance\n{rows}\n")

    recording = written("core.txt", write)
    np.testing.assert_array_equal(recording.X, X)
    assert recording.view.wavelengths.tolist() == [1, 2, 3, 4, 5, 6]


@few
@given(rows=arrays(float, (5, 9), elements=st.floats(-170, 170).map(lambda value: round(value, 4))))
def test_bvh(rows):
    # half a turn from one frame to the next would be taken for a full turn in the other direction
    rows[:, 3:] = rows[:, 3:] / 2
    recording = written("motion.bvh", foreign.write_bvh, rows, 0.02)
    np.testing.assert_allclose(recording.X, rows[:, 3:], atol=1e-9)
    np.testing.assert_allclose(recording.times, 0.02 * np.arange(5))


@few
@given(rows=arrays(float, (5, 7), elements=st.floats(-85, 85).map(lambda value: round(value, 4))))
def test_amc(rows):
    recording = written("motion.amc", foreign.write_amc, rows)
    np.testing.assert_array_equal(recording.X, rows[:, 3:])
    np.testing.assert_allclose(recording.times, np.arange(5) / 120)


@fewer
@given(points=arrays(np.float32, (6, 3, 3), elements=st.floats(-1e3, 1e3, width=32)))
def test_c3d(points):
    points = points + np.float32(2000)  # a marker at the origin counts as out of sight
    recording = written("markers.c3d", foreign.write_c3d, points, 100.0)
    np.testing.assert_array_equal(recording.X, points.reshape(6, 9))
    np.testing.assert_allclose(recording.times, np.arange(6) / 100)


PICTURES = {
    ".png": foreign.write_png,
    ".bmp": foreign.write_bmp,
    ".pgm": foreign.write_pnm,
    ".ppm": foreign.write_pnm,
    ".tif": foreign.write_tiff,
}


@pytest.mark.parametrize("ending", PICTURES)
@pytest.mark.parametrize("colour", [False, True])
def test_pictures(tmp_path, ending, colour):
    if ending == ".pgm" and colour:
        ending = ".ppm"
    shape = (4, 12, 16, 3) if colour else (4, 12, 16)
    pictures = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    for number, picture in enumerate(pictures):
        PICTURES[ending](tmp_path / f"{number}{ending}", picture)
    recording = read(tmp_path, size=(16, 12), colour=colour)
    np.testing.assert_array_equal(recording.view.pixels, pictures)


@pytest.mark.parametrize("rate", [(25, 1), (30000, 1001), (1, 4)])
def test_films(tmp_path, rate):
    frames = np.random.default_rng(0).integers(0, 256, (6, 12, 16), dtype=np.uint8)
    foreign.write_y4m(tmp_path / "film.y4m", frames, rate)
    recording = read(tmp_path / "film.y4m", size=(16, 12))
    np.testing.assert_array_equal(recording.view.pixels, frames)
    np.testing.assert_allclose(recording.times, np.arange(6) * rate[1] / rate[0])


def test_strings_of_arrow_are_labels(tmp_path):
    table = pa.table(
        {"a": pa.array([1.0, 2.0, 3.0]), "what": pa.array(["walk", "jump", "walk"]).dictionary_encode()}
    )
    buffer = io.BytesIO()
    pa.parquet.write_table(table, buffer)
    (tmp_path / "table.parquet").write_bytes(buffer.getvalue())
    recording = read(tmp_path / "table.parquet", labels="what")
    assert recording.label_names == ("jump", "walk")
    assert recording.labels.tolist() == [1, 0, 1]
