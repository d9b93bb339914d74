"""Dates and times of day as loggers and people write them, in one column or in several."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

from seqspan.readers import from_frame, read, read_blocks

NIGHT = datetime(2024, 2, 28, 23, 59, 58)
X = np.random.default_rng(0).normal(size=(40, 2))


def moments(n: int = 40, **step: float) -> list[datetime]:
    return [NIGHT + i * timedelta(**(step or {"seconds": 1})) for i in range(n)]


def read_columns(folder, table, ending="csv", **options):
    """Write columns beside two features and read them."""
    frame = pl.DataFrame({**table, "a": X[:, 0], "b": X[:, 1]})
    path = folder / f"table.{ending}"
    frame.write_csv(path, separator=";") if ending == "csv" else frame.write_parquet(path)
    return read(path, **options)


def formatted(layout: str, stamps: list[datetime]) -> list[str]:
    return [stamp.strftime(layout) for stamp in stamps]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("day", ["%Y-%m-%d", "%d/%m/%Y", "%d.%m.%Y", "%d.%m.%y", "%b %d, %Y"])
@pytest.mark.parametrize("clock", ["%H:%M:%S", "%H.%M.%S", "%H:%M:%S.%f", "%I:%M:%S %p"])
def test_a_date_and_a_time_of_day_are_the_time_together(tmp_path, day, clock, ending):
    stamps = moments()
    columns = {"Date": formatted(day, stamps), "Time": formatted(clock, stamps)}
    recording = read_columns(tmp_path, columns, ending)
    assert recording.feature_names == ("a", "b")
    assert [datetime.fromisoformat(text) for text in recording.dates.to_iso()] == stamps
    assert "times come from columns 'Date' and 'Time'" in recording.notes


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_have_dates_and_times_as_text_or_as_such(library):
    stamps = moments()
    rows = {"a": X[:, 0], "b": X[:, 1]}
    typed = {"Date": [stamp.date() for stamp in stamps], "Time": [stamp.time() for stamp in stamps]}
    for columns in (typed, {"when": [str(stamp) for stamp in stamps]}):
        recording = from_frame(library.DataFrame(columns | rows))
        assert recording.feature_names == ("a", "b")
        assert [datetime.fromisoformat(text) for text in recording.dates.to_iso()] == stamps
    clock = from_frame(library.DataFrame({"Time": typed["Time"]} | rows))
    assert clock.times.tolist() == pytest.approx(np.arange(40) + 86_398)


@pytest.mark.parametrize(
    ("cells", "seconds"),
    [
        (["10:00:01", "10:00:02"], [36_001, 36_002]),
        (["10:00:01.250", "10:00:01.500"], [36_001.25, 36_001.5]),
        (["10:00:01,250", "10:00:01,500"], [36_001.25, 36_001.5]),
        (["18.00.00", "18.00.30"], [64_800, 64_830]),
        (["23:59:59", "00:00:00"], [86_399, 86_400]),
        (["11:59 PM", "12:01 AM"], [86_340, 86_460]),
        (["9:30 a.m.", "12:30 p.m."], [34_200, 45_000]),
        (["10:00", "10:01"], [36_000, 36_060]),
        (["59:58.5", "59:59.0"], [3598.5, 3599]),  # of a stopwatch
        (["59:59", "1:00:00"], [3599, 3600]),
        (["99:59:59", "100:00:00"], [359_999, 360_000]),
    ],
)
def test_times_of_day_are_seconds_and_go_on_past_midnight(tmp_path, cells, seconds):
    rows = "".join(f"{cell};{i}\n" for i, cell in enumerate(cells))
    (tmp_path / "table.csv").write_text(f"Time;a\n{rows}")
    recording = read(tmp_path / "table.csv")
    assert recording.times.tolist() == pytest.approx(seconds)
    assert (recording.time_unit, recording.dates) == ("s", None)


def test_ratios_are_no_times_of_day(tmp_path):
    days = {"Date": formatted("%Y-%m-%d", moments(40))}
    recording = read_columns(tmp_path, days | {"score": [f"{i // 9}:{i % 9}" for i in range(40)]})
    assert recording.times.tolist() == [0, 0, *[86_400] * 38]
    assert "left out date columns that are not the time: score" in recording.notes
    assert read_columns(tmp_path, {"shape": ["16:9", "16:10"] * 20}).time_unit == "sample"
    (tmp_path / "table.csv").write_text("10:00,1\n10:01,5\n10:02,3\n")
    assert read(tmp_path / "table.csv").times.tolist() == [36_000, 36_060, 36_120]


def test_a_date_and_a_clock_that_was_set_back_are_no_time(tmp_path):
    stamps = moments(20) + moments(20)
    columns = {"Date": formatted("%Y-%m-%d", stamps), "Time": formatted("%H:%M:%S", stamps)}
    notes = read_columns(tmp_path, columns).notes
    assert "columns 'Date' and 'Time' are not used as time because they decrease or have gaps" in notes
    assert (
        sum("time" in note for note in notes) == 2
    )  # and that they are left out: the clock alone is no time


def test_a_second_time_of_day_is_left_out(tmp_path):
    days = moments(days=1)
    columns = {"day": formatted("%Y-%m-%d", days), "sunrise": ["07:12", "07:10"] * 20}
    recording = read_columns(tmp_path, columns)
    assert recording.times[:2].tolist() == [0, 86_400]
    assert "times come from column 'day'" in recording.notes
    assert "left out date columns that are not the time: sunrise" in recording.notes


@pytest.mark.parametrize("last", [["Sum", ""], [None, None]])
def test_a_column_of_dates_with_other_cells_is_noted(tmp_path, last):
    stamps = [*formatted("%Y-%m-%d", moments(39)), last[0]]
    recording = read_columns(
        tmp_path, {"Date": stamps, "Time": [*formatted("%H:%M:%S", moments(39)), last[1]]}
    )
    for name in ("Date", "Time"):
        note = f"column {name!r} begins with dates or times, but not all of its cells are such"
        assert note in recording.notes
    assert recording.time_unit == "sample"


@pytest.mark.parametrize("cells", [["10:00:01", "10:61:02"], ["13:00 PM", "13:01 PM"], ["10:00 PM", "10:01"]])
def test_what_is_no_time_of_day_is_text(tmp_path, cells):
    recording = read_columns(tmp_path, {"Time": cells * 20})
    assert recording.time_unit == "sample"
    assert "left out columns that are not numeric: Time" in recording.notes


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("names", "step"),
    [
        (("year", "month", "day", "hour"), {"hours": 1}),
        (("YY", "MM", "DD", "hh", "mm"), {"minutes": 10}),
        (("Year", "Month", "Day", "Hour", "Minute", "Second"), {"seconds": 1}),
        (("yr", "mo", "dy"), {"days": 1}),
    ],
)
def test_parts_of_a_date_are_the_time_together(tmp_path, names, step, ending):
    fields = ("year", "month", "day", "hour", "minute", "second")[: len(names)]
    start = datetime(2024, 2, 28)
    stamps = [start + i * timedelta(**step) for i in range(40)]
    columns = {
        name: [getattr(stamp, part) for stamp in stamps] for name, part in zip(names, fields, strict=True)
    }
    recording = read_columns(tmp_path, columns, ending)
    assert recording.feature_names == ("a", "b")
    assert [datetime.fromisoformat(text) for text in recording.dates.to_iso()] == stamps
    if ending == "parquet":
        blocks = np.concatenate(list(read_blocks(tmp_path / "table.parquet", 7)))
        np.testing.assert_array_equal(blocks, recording.X)


def test_hours_and_times_of_day_belong_to_a_date(tmp_path):
    stamps = moments(hours=1)
    days = {"Date": formatted("%d/%m/%Y", stamps)}
    hours = read_columns(tmp_path, days | {"Hour": [stamp.hour for stamp in stamps]})
    assert hours.times.tolist() == pytest.approx(3600 * np.arange(40))
    assert "times come from columns 'Date' and 'Hour'" in hours.notes
    parts = {name: [getattr(stamp, name) for stamp in stamps] for name in ("year", "month", "day")}
    clock = read_columns(tmp_path, parts | {"clock": formatted("%H:%M:%S", stamps)})
    assert [datetime.fromisoformat(text) for text in clock.dates.to_iso()] == stamps
    until_24 = read_columns(tmp_path, days | {"Hour": [stamp.hour + 1 for stamp in stamps]})
    assert until_24.times.tolist() == hours.times.tolist()


def test_years_are_times_if_they_only_go_on(tmp_path):
    recording = read_columns(tmp_path, {"Year": range(1821, 1861)})
    assert recording.dates.to_iso()[:2] == ["1821-01-01", "1822-01-01"]
    months = read_columns(
        tmp_path, {"year": [2023] * 12 + [2024] * 28, "month": [*range(1, 13)] * 3 + [1, 2, 3, 4]}
    )
    assert months.time_unit == "sample"  # March 2024 comes twice
    assert any(note.startswith("left out column 'month', which is a part of a date") for note in months.notes)
    cars = read_columns(tmp_path, {"year": [1999, 2003, 2001, 2000] * 10})
    assert cars.feature_names == ("year", "a", "b")


def test_a_part_that_is_none_is_a_feature(tmp_path):
    stamps = moments(hours=1)
    parts = {name: [getattr(stamp, name) for stamp in stamps] for name in ("year", "month", "day", "hour")}
    recording = read_columns(tmp_path, parts | {"min": [i % 70 for i in range(40)], "max": X[:, 0]})
    assert recording.feature_names == ("max", "a", "b")  # minutes all the same
    recording = read_columns(tmp_path, parts | {"min": [i % 3 - 1 for i in range(40)], "max": X[:, 0]})
    assert recording.feature_names == ("min", "max", "a", "b")
    assert recording.times.tolist() == pytest.approx(3600 * np.arange(40))


def test_parts_of_a_date_beside_the_date_are_no_features(tmp_path):
    stamps = moments(hours=1)
    parts = {name: [getattr(stamp, name) for stamp in stamps] for name in ("year", "month", "day", "hour")}
    columns = {"when": [stamp.isoformat() for stamp in stamps]} | parts
    recording = read_columns(tmp_path, columns)
    assert recording.feature_names == ("a", "b")
    assert "times come from column 'when'" in recording.notes
    chosen = read_columns(tmp_path, columns, columns=["hour", "a"])
    assert chosen.feature_names == ("hour", "a")


@pytest.mark.parametrize(
    ("layout", "months_first"),
    [
        ("%m/%d/%Y %H:%M", True),
        ("%m-%d-%Y %H:%M:%S", True),
        ("%m/%d/%y %H:%M", True),
        ("%m/%d/%Y %I:%M:%S %p", True),
        ("%d/%m/%Y %H:%M", False),
        ("%d/%m/%y %I:%M %p", False),
    ],
)
def test_of_two_ways_to_read_dates_that_in_which_samples_are_nearer_is_right(tmp_path, layout, months_first):
    start = datetime(2024, 3, 1, 11, 30)
    stamps = [start + timedelta(hours=i) for i in range(40)]
    recording = read_columns(tmp_path, {"when": formatted(layout, stamps)})
    assert [datetime.fromisoformat(text) for text in recording.dates.to_iso()] == stamps
    read_as = "month/day/year" if months_first else "day/month/year"
    assert any(f"was read as {read_as}" in note for note in recording.notes)


@pytest.mark.parametrize(
    "layout",
    [
        *("%b %d, %Y %I:%M %p", "%B %d, %Y %H:%M:%S", "%d %b %Y %H:%M:%S.%f", "%d-%b-%Y %H:%M:%S"),
        *("%d-%b-%y %I:%M:%S %p", "%d.%m.%Y %H:%M:%S,%f", "%Y/%m/%d %H:%M"),
    ],
)
def test_dates_as_people_write_them(tmp_path, layout):
    start = datetime(2024, 2, 28, 23, 59)
    stamps = [start + timedelta(minutes=i) for i in range(40)]
    recording = read_columns(tmp_path, {"when": formatted(layout, stamps)})
    assert [datetime.fromisoformat(text) for text in recording.dates.to_iso()] == stamps
