"""Files block by block: all rows, in order, never more than asked for."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

from seqspan.readers import read, read_blocks

WRITTEN = [f"2024-03-01 10:00:{second}" for second in range(10, 35)]
SQUARES = [second**2 for second in range(25)]  # which only grow, as times do


@pytest.fixture
def rows():
    return np.random.default_rng(0).standard_normal((25, 3))


def save_npy(path, rows):
    np.save(path / "walk.npy", rows)
    return path / "walk.npy"


def save_parquet(path, rows):
    table = pl.DataFrame(rows, schema=["a", "b", "c"]).with_columns(name=pl.lit("left out"))
    table.write_parquet(path / "walk.parquet", row_group_size=4)
    return path / "walk.parquet"


def save_csv(path, rows):
    pl.DataFrame(rows, schema=["a", "b", "c"]).write_csv(path / "walk.csv")
    return path / "walk.csv"


@pytest.mark.parametrize("save", [save_npy, save_parquet, save_csv])
@pytest.mark.parametrize("n_rows", [7, 25, 100])
def test_blocks_are_the_rows_in_order(tmp_path, rows, save, n_rows):
    blocks = list(read_blocks(save(tmp_path, rows), n_rows))
    assert [len(block) for block in blocks[:-1]] == [n_rows] * (len(blocks) - 1)
    np.testing.assert_allclose(np.concatenate(blocks), rows)


@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", ">f4", "<f2", "i8", ">i4", "u4", "i2", "u1", "?"])
def test_blocks_have_every_digit_of_arrays_of_any_type(tmp_path, kind):
    largest = 1 if kind == "?" else np.pi if "f" in kind else np.iinfo(kind).max // 2 ** (8 * (kind == "i8"))
    array = np.array([[0, largest, 1], [1, largest - 1 if kind == "u1" else largest, 0]]).astype(kind)
    np.save(tmp_path / "numbers.npy", array)
    assert next(read_blocks(tmp_path / "numbers.npy")).tolist() == array.astype(float).tolist()


def test_durations_of_a_parquet_file_are_the_features_that_read_gives(tmp_path):
    lags = [timedelta(milliseconds=7 * place % 5) for place in range(12)]
    when = [timedelta(seconds=place) for place in range(12)]
    pl.DataFrame({"time": when, "lag_ms": lags, "x": range(12, 0, -1)}).write_parquet(tmp_path / "t.parquet")
    recording = read(tmp_path / "t.parquet")
    assert recording.feature_names == ("lag_ms", "x")
    np.testing.assert_allclose(np.concatenate(list(read_blocks(tmp_path / "t.parquet", 5))), recording.X)


def test_whole_numbers_become_single_precision(tmp_path):
    np.save(tmp_path / "film.npy", np.arange(12, dtype=np.uint8).reshape(6, 2))
    assert next(read_blocks(tmp_path / "film.npy", 4)).dtype == np.float32


def test_what_is_wrong_is_said(tmp_path):
    np.save(tmp_path / "line.npy", np.zeros(5))
    with pytest.raises(
        ValueError, match=r"line\.npy: the array must have two axes, one row per sample; got \(5,\)"
    ):
        next(read_blocks(tmp_path / "line.npy"))
    with pytest.raises(ValueError, match="n_rows must be at least 1"):
        next(read_blocks(tmp_path / "line.npy", 0))


def test_pickled_objects_are_never_loaded(tmp_path):
    np.save(tmp_path / "trap.npy", np.array([[{}, {}]], dtype=object))
    with pytest.raises(ValueError, match="Python objects"):
        next(read_blocks(tmp_path / "trap.npy"))


def test_double_precision_stays_and_blocks_are_no_views_of_the_file(tmp_path, rows):
    block = next(read_blocks(save_npy(tmp_path, rows[:, ::-1])))
    assert block.dtype == np.float64
    assert block.flags.c_contiguous
    block[:] = 0
    np.testing.assert_array_equal(next(read_blocks(tmp_path / "walk.npy")), rows[:, ::-1])


@pytest.mark.parametrize("save", [save_npy, save_parquet])
def test_options_go_to_the_reader(tmp_path, rows, save):
    with pytest.raises(ValueError, match="pass a larger max_bytes"):
        next(read_blocks(save(tmp_path, rows), max_bytes=10))


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".csv"])
@pytest.mark.parametrize(
    ("columns", "features"),
    [
        ({"time_ms": range(0, 250, 10), "a": range(25)}, ("a",)),
        ({"a": range(0, 50, 2), "depth": range(25), "frame": range(25)}, ("a",)),
        ({"time": range(25, 0, -1), "t": range(25), "a": range(0, 50, 2)}, ("a",)),
        ({"a": [True, False, True, True, False] * 5, "index": range(25), "b": range(0, 50, 2)}, ("a", "b")),
        ({"a": range(0, 50, 2), "b": range(25)}, ("a",)),
        ({"when": WRITTEN, "T": SQUARES, "a": range(0, 50, 2)}, ("T", "a")),
        ({"clock": [datetime.fromisoformat(text).time() for text in WRITTEN], "T": SQUARES}, ("T",)),
    ],
)
def test_blocks_hold_the_features_that_read_gives(tmp_path, ending, columns, features):
    table = pl.DataFrame(columns)
    if ending == ".csv":
        table = table.with_columns(pl.col(pl.Boolean).cast(pl.Int8))
    path = tmp_path / f"walk{ending}"
    {".parquet": table.write_parquet, ".feather": table.write_ipc, ".csv": table.write_csv}[ending](path)
    whole = read(path)
    assert whole.feature_names == features
    np.testing.assert_array_equal(np.concatenate(list(read_blocks(path, 7))), whole.X)


def test_dates_are_no_features_of_blocks(tmp_path):
    dates = pl.datetime_range(pl.datetime(2024, 1, 1), pl.datetime(2024, 1, 25), "1d", eager=True)
    pl.DataFrame({"when": dates, "t": range(25), "a": range(25)}).write_parquet(tmp_path / "walk.parquet")
    blocks = np.concatenate(list(read_blocks(tmp_path / "walk.parquet", 7)))
    np.testing.assert_array_equal(blocks, read(tmp_path / "walk.parquet").X)
