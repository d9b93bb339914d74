"""Data frames of pandas and polars go in with their times and names."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import seqspan
from seqspan import OSC
from seqspan.datasets import make_subspaces
from seqspan.readers import from_frame

ZONES = [None, "UTC", "Europe/Berlin", "+02:00"]


@pytest.fixture
def values():
    return make_subspaces(rng=0)[0].T[:, :6]


def when(n: int, zone: str | None = None) -> pd.DatetimeIndex:
    return pd.date_range("2024-03-31T00:30", periods=n, freq="100ms", tz=zone)


@pytest.mark.parametrize("zone", ZONES)
def test_an_index_of_dates_has_the_times(values, zone):
    frame = pd.DataFrame(values, index=when(len(values), zone), columns=list("abcdef"))
    recording = from_frame(frame)
    assert recording.feature_names == tuple("abcdef")
    assert [pd.Timestamp(text) for text in recording.dates.to_iso()] == list(frame.index)
    assert recording.dates.zone == (zone or "")
    assert recording.times[1] == pytest.approx(0.1)
    np.testing.assert_array_equal(recording.X, values)


@pytest.mark.parametrize("zone", ZONES[:3])
def test_polars_and_pandas_give_the_same_recording(values, zone):
    columns = {"when": when(len(values), zone), "n": range(len(values)), "a": values[:, 0], "who": "me"}
    pandas = from_frame(pd.DataFrame(columns))
    dates = pl.Series(
        columns["when"].tz_localize(None) if zone is None else columns["when"].tz_convert("UTC")
    )
    polars = from_frame(
        pl.DataFrame(columns | {"when": dates if zone is None else dates.dt.convert_time_zone(zone)})
    )
    for recording in (pandas, polars):
        assert recording.feature_names == ("a",)
        assert recording.notes == pandas.notes
        assert recording.dates.to_iso() == pandas.dates.to_iso()
    assert "left out column 'n', which counts the rows; name it in columns to keep it" in polars.notes


@pytest.mark.parametrize("zone", ZONES[:3])
def test_dates_of_arrow_are_dates(values, zone):
    stamps = pd.Series(when(len(values), zone))
    frame = pd.DataFrame({"when": stamps, "a": values[:, 0]})
    arrow = frame.astype({"when": pd.ArrowDtype(pa.timestamp("us", tz=zone))})
    recording, usual = from_frame(arrow), from_frame(frame)
    assert recording.dates.to_iso() == usual.dates.to_iso()
    assert (recording.feature_names, recording.times.tolist()) == (("a",), usual.times.tolist())
    days = pd.Series([date(2024, 1, 1), date(2024, 1, 3)], dtype=pd.ArrowDtype(pa.date32()))
    assert from_frame(pd.DataFrame({"day": days, "a": [1, 2]})).dates.to_iso() == ["2024-01-01", "2024-01-03"]


def test_days_and_named_indices_are_times(values):
    days = pl.DataFrame(
        {"day": pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 3), eager=True), "a": [1.0, 3, 2]}
    )
    assert from_frame(days).dates.to_iso() == ["2024-01-01", "2024-01-02", "2024-01-03"]
    frame = pd.DataFrame({"a": [1.0, 3, 2]}, index=pd.Index([0.0, 0.5, 2.0], name="time_ms"))
    assert from_frame(frame).times.tolist() == [0, 0.5, 2]
    assert from_frame(frame).time_unit == "ms"
    assert from_frame(frame.reset_index(drop=True)).time_unit == "sample"


@pytest.mark.parametrize(
    ("name", "unit", "step"), [(None, "s", 0.25), ("lap", "s", 0.25), ("time_ms", "ms", 250)]
)
def test_an_index_of_durations_has_the_times(name, unit, step):
    index = pd.to_timedelta([0, 250, 500], unit="ms").rename(name)
    recording = from_frame(pd.DataFrame({"a": [1.0, 3, 2]}, index=index))
    assert recording.feature_names == ("a",)
    assert recording.time_unit == unit
    np.testing.assert_allclose(recording.times, [0, step, 2 * step])


def test_an_index_of_periods_has_the_times():
    frame = pd.DataFrame({"a": [1.0, 3, 2]}, index=pd.period_range("2024-01", periods=3, freq="M"))
    assert from_frame(frame).dates.to_iso() == ["2024-01-01", "2024-02-01", "2024-03-01"]


@pytest.mark.parametrize("library", [pd, pl])
def test_columns_of_durations_are_numbers(library):
    durations = np.array([0, 1500, "NaT"], "m8[ms]")
    table = {"elapsed": durations[[0, 1, 1]], "pause (min)": durations, "a": [1.0, 3, 2]}
    recording = from_frame(library.DataFrame(table), missing="interpolate")
    assert (recording.times.tolist(), recording.time_unit) == ([0, 1.5, 1.5], "s")
    assert recording.feature_names == ("pause (min)", "a")
    np.testing.assert_allclose(recording.X[:, 0], [0, 0.025, 0.025])


@pytest.mark.parametrize("name", [None, "index"])
def test_an_index_and_a_column_may_have_the_same_name(values, name):
    frame = pd.DataFrame({"index": values[:, 0], "a": values[:, 1]}, index=when(len(values)).rename(name))
    recording = from_frame(frame)
    assert recording.feature_names == ("index", "a")
    assert pd.Timestamp(recording.dates.to_iso()[-1]) == frame.index[-1]


@pytest.mark.parametrize("library", [pd, pl])
def test_segment_and_fit_take_frames(values, library):
    names = list("abcdef")
    table = {"time_s": np.arange(len(values)) / 10} | {name: values[:, i] for i, name in enumerate(names)}
    found = seqspan.segment(library.DataFrame(table))
    assert found.spans[0].end_time == pytest.approx(found.spans[0].end / 10)
    assert found.boundaries.tolist() == seqspan.segment(values).boundaries.tolist()
    osc = OSC(random_state=0).fit(library.DataFrame(table))
    assert osc.feature_names_in_.tolist() == names
    assert osc.n_features_in_ == 6


def test_missing_values_of_a_frame_are_an_error_that_names_the_column():
    frame = pd.DataFrame({"a": pd.array([1, None, 4], dtype="Int64"), "b": [0.0, 2.0, 1.0]})
    with pytest.raises(ValueError, match=r"missing or infinite values: a \(1\)"):
        seqspan.segment(frame)
    assert from_frame(frame, missing="interpolate").X[:, 0].tolist() == [1, 2.5, 4]
    assert from_frame(frame, columns=["b"]).X.tolist() == [[0], [2], [1]]


def test_single_precision_stays(values):
    assert from_frame(pl.DataFrame(values.astype(np.float32))).X.dtype == np.float32
    assert from_frame(pd.DataFrame(values.astype(np.float32))).X.dtype == np.float32


@pytest.mark.parametrize("zone", ZONES)
def test_spans_come_out_with_dates(values, zone):
    found = seqspan.segment(pd.DataFrame(values, index=when(len(values), zone)))
    spans = found.to_frame()
    starts = spans["start"].to_list()
    moments = [pd.Timestamp(moment) for moment in spans["start_time"]]
    assert moments == [when(len(values), zone)[start] for start in starts]
    assert spans["name"].to_list()[0] == "A"


@pytest.mark.parametrize("names", [["a", "b", "a"], [1, "1", "b"]])
def test_columns_of_the_same_name_are_refused(names):
    frame = pd.DataFrame(np.eye(3), columns=names)
    with pytest.raises(ValueError, match=f"columns must have different names; several are called {names[0]}"):
        from_frame(frame)
