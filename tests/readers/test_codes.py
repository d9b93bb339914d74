"""Numbers that stand for missing values: noted, and replaced where the user says so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from seqspan.readers import from_frame, read
from seqspan.readers._codes import note_codes


def air(n: int = 60, code: float = -200) -> dict[str, np.ndarray]:
    """Values of which some are a code; those of the second column reach further than the code is away."""
    rng = np.random.default_rng(0)
    table = {"T": rng.normal(20, 3, n), "NOx": rng.gamma(2, 200, n), "RH": rng.normal(50, 5, n)}
    table["T"][[3, 7, 30]] = table["NOx"][10:15] = code
    return {name: values.astype(np.float64) for name, values in table.items()}


SOURCES = {
    "csv": lambda table, folder: pl.DataFrame(table).write_csv(folder / "table.csv"),
    "parquet": lambda table, folder: pl.DataFrame(table).write_parquet(folder / "table.parquet"),
    "npy": lambda table, folder: np.save(folder / "table.npy", np.column_stack(list(table.values()))),
    "pandas": lambda table, folder: pd.DataFrame(table),
    "polars": lambda table, folder: pl.DataFrame(table),
}


@pytest.fixture(params=SOURCES)
def read_as(request, tmp_path):
    def read_table(table, **options):
        written = SOURCES[request.param](table, tmp_path)
        if request.param in ("pandas", "polars"):
            return from_frame(written, **options)
        return read(tmp_path / f"table.{request.param}", **options)

    return read_table


def test_a_number_that_repeats_far_from_all_others_is_noted(read_as):
    recording = read_as(air())
    first, second = recording.feature_names[:2]
    assert any(
        note.startswith(f"-200 repeats far from all other values in {first} (3), {second} (5): ")
        and "missing_values=-200" in note
        and "--missing-values -200 --missing interpolate" in note
        for note in recording.notes
    )


def test_numbers_that_stand_for_missing_values_are_missing(read_as):
    with pytest.raises(ValueError, match=r"missing or infinite values: \w+ \(3\), \w+ \(5\)"):
        read_as(air(), missing_values=-200)
    recording = read_as(air(), missing_values=[-200, 1e20], missing="drop")
    kept = np.all([values != -200 for values in air().values()], axis=0)
    np.testing.assert_allclose(recording.X, np.column_stack(list(air().values()))[kept])
    assert not any("repeats far" in note for note in recording.notes)


def test_several_codes_are_one_note():
    X = np.random.default_rng(2).normal(size=(40, 2))
    X[:3, 0], X[5:9, 1] = -9999, 1e20
    (note,) = note_codes(X, ["a", "b"])
    assert note.startswith("-9999 repeats far from all other values in a (3); 1e+20 repeats far from")
    assert "pass missing_values=[-9999,1e+20] and" in note
    assert "(--missing-values -9999,1e+20 --missing interpolate" in note


@pytest.mark.parametrize("code", [-9999, -999, 9999, 99999.9, 1e20, -32768, -1e30])
def test_usual_codes_are_noted(code):
    column = np.random.default_rng(1).normal(size=50)
    column[[3, 4]] = code
    assert len(note_codes(column[:, None], ["x"])) == 1
    column[4] = 0
    assert not note_codes(column[:, None], ["x"])  # once is no habit


def test_codes_of_single_precision_and_integers_are_what_was_written(tmp_path):
    column = np.random.default_rng(1).integers(0, 50, 40)
    column[[3, 4]] = -9999
    assert note_codes(column[:, None], ["x"])[0].startswith("-9999 repeats")
    single = np.where(column < 0, 1e20, column).astype(np.float32)[:, None]
    assert "missing_values=1e+20 " in note_codes(single, ["x"])[0]
    np.save(tmp_path / "x.npy", single)
    assert read(tmp_path / "x.npy", missing_values=1e20, missing="drop").X.shape == (38, 1)
    np.save(tmp_path / "x.npy", column[:, None])
    assert read(tmp_path / "x.npy", missing_values=-9999, missing="drop").X.shape == (38, 1)


@pytest.mark.parametrize(
    "column",
    [
        np.repeat([0.0, 5, 7, 2, 100, 3], 5),  # percent of a valve
        np.concatenate([np.zeros(20), 1500 + np.arange(20.0)]),  # a machine that is off
        np.concatenate([np.full(20, -50.0), np.ones(20)]),  # two states
        np.concatenate([np.full(5, -4.0), np.arange(30.0)]),
        np.tile([1e308, -1e308], 10),
        np.concatenate([1.7e308 * np.linspace(-1, 1, 20), [-1.7e308]]),
        np.full(20, -9999.0),
        np.full(20, np.nan),
        np.array([]),
    ],
)
def test_states_are_no_codes(column):
    assert not note_codes(column[:, None], ["x"])


def test_a_code_in_the_time_is_a_gap_there(tmp_path):
    (tmp_path / "table.csv").write_text(
        "time,a\n" + "".join(f"{i},{i % 3}\n" for i in range(20)) + "9999,1\n"
    )
    recording = read(tmp_path / "table.csv", missing_values=9999)
    assert recording.time_unit == "sample"
    assert "column 'time' is not used as time because it decreases or has gaps" in recording.notes


@pytest.mark.parametrize("given", ["none", ["a"], [None], [[1, 2]]])
def test_what_is_no_number_is_refused(tmp_path, given):
    (tmp_path / "table.csv").write_text("a\n1\n2\n")
    with pytest.raises(ValueError, match="missing_values must be numbers, such as -9999; got"):
        read(tmp_path / "table.csv", missing_values=given)


@pytest.mark.parametrize("kinds", [["walk", None, "run", "walk"], [2.5, None, 1.0, 2.5]])
@pytest.mark.parametrize("source", ["csv", "parquet", "pandas", "polars"])
def test_samples_without_a_label_are_unlabelled(tmp_path, source, kinds):
    table = {"a": [1.0, 3, 2, 5], "kind": kinds}
    if source in ("pandas", "polars"):
        recording = from_frame((pd if source == "pandas" else pl).DataFrame(table), labels="kind")
    else:
        SOURCES[source](table, tmp_path)
        recording = read(tmp_path / f"table.{source}", labels="kind")
    assert recording.labels.tolist() == [1, -1, 0, 1]
    assert recording.label_names == (("run", "walk") if "walk" in kinds else ("1", "2.5"))


def test_arrays_have_samples_without_a_label(tmp_path):
    for kinds, names in (([2.0, np.nan, 1], ("1", "2")), (["b", "", "a"], ("a", "b"))):
        np.savez(tmp_path / "x.npz", X=np.eye(3), kind=np.array(kinds))
        recording = read(tmp_path / "x.npz", variable="X", labels="kind")
        assert (recording.labels.tolist(), recording.label_names) == ([1, -1, 0], names)
