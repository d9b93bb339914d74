"""Tables and arrays: dialects found, columns sorted, nothing lost or filled without a word."""

from __future__ import annotations

import io
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.readers.samples import matrix, write_sample

from seqspan.readers import read, read_blocks
from seqspan.readers._dialect import find_dialect


def read_text(folder, text, name="table.csv", encoding="utf-8", **options):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return read(path, **options)


@settings(max_examples=60, deadline=None)
@given(
    delimiter=st.sampled_from([",", ";", "\t", "|", " "]),
    comma=st.booleans(),
    header=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    values=st.lists(
        st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 3)), min_size=3, max_size=3),
        min_size=2,
        max_size=8,
    ),
)
def test_the_dialect_is_found(delimiter, comma, header, encoding, values):
    comma = comma and delimiter != ","
    names = ["größe", "x", "y"] if encoding != "utf-8" or header else ["a", "b", "c"]
    rows = [[f"{value:.3f}".replace(".", "," if comma else ".") for value in row] for row in values]
    lines = [delimiter.join(names)] * header + [delimiter.join(row) for row in rows]
    dialect, found = find_dialect("\n".join(lines).encode(encoding), whole=True)
    assert (dialect.delimiter, dialect.header) == (delimiter, header)
    assert dialect.decimal == ("," if comma else ".")
    assert found[-1] == rows[-1]
    if header:
        assert found[0] == names


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize(
    "text",
    ["größe;t\n1,5;0\n2,5;1\n", "größe\tt\n1.5\t0\n2.5\t1\n", "# comment\ngröße  t\n 1.5 0\n  2.5   1\n"],
)
def test_encodings_and_delimiters_read_the_same(tmp_path, text, encoding):
    recording = read_text(tmp_path, text, encoding=encoding)
    assert recording.X.tolist() == [[1.5], [2.5]]
    assert recording.feature_names == ("größe",)
    assert recording.times.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("a,b\n1,2\n3,4\n", "read as utf-8, comma-separated, decimal point, one header row"),
        ("1,5;2\n3,5;4\n", "read as utf-8, semicolon-separated, decimal comma, no header row"),
        ("a\tb\n1\t2\n3\t4\n", "read as utf-8, tab-separated, decimal point, one header row"),
        ("1 2\n3 4\n", "read as utf-8, space-separated, decimal point, no header row"),
    ],
)
def test_the_notes_say_how_a_table_was_read(tmp_path, text, note):
    assert read_text(tmp_path, text).notes[0] == note


def test_an_unusual_delimiter_is_quoted_in_the_notes(tmp_path):
    recording = read_text(tmp_path, "a~b\n1~2\n3~4\n", delimiter="~")
    assert recording.notes[0] == "read as utf-8, separated by '~', decimal point, one header row"
    assert recording.X.tolist() == [[1, 2], [3, 4]]


def test_bytes_that_are_latin_late_in_the_file_are_found(tmp_path):
    text = "a,b,name\n" + "1,2,x\n" * 100_000 + "3,4,ü\n"
    recording = read_text(tmp_path, text, encoding="cp1252")
    assert recording.X[-1].tolist() == [3, 4]
    assert any("cp1252" in note for note in recording.notes)


@pytest.mark.parametrize(
    ("header", "unit"),
    [
        *(("time_ms", "ms"), ("Depth [m]", "m"), ("t", "s"), ("frame", "sample"), ("Timestamp (us)", "us")),
        *(("Time/ms", "ms"), ("date/time", "s"), ("Time (MS)", "ms"), ("time [seconds]", "s")),
        *(("time_minutes", "min"), ("elapsed hours", "h"), ("time (days)", "d"), ("time (µs)", "us")),
        *(("time_msec", "ms"), ("time of day", "s"), ("Depth [Feet]", "ft")),
        *(("Zeit [ms]", "ms"), ("Tiempo (s)", "s"), ("Uhrzeit", "s"), ("Datum (h)", "h")),
    ],
)
def test_times_and_their_unit_are_recognised(tmp_path, header, unit):
    recording = read_text(tmp_path, f"{header};a\n1;5\n3;6\n")
    assert (recording.times.tolist(), recording.time_unit) == ([1, 3], unit)
    assert recording.feature_names == ("a",)


@pytest.mark.parametrize("delimiter", [",", " ", ";", "\t"])
def test_names_in_a_comment_are_those_of_the_columns(tmp_path, delimiter):
    rows = np.column_stack([np.arange(12) / 10, np.arange(12) ** 2, np.arange(12) % 5])
    path = tmp_path / "table.csv"
    np.savetxt(
        path, rows, fmt="%.2f", delimiter=delimiter, header=f"by hand\n{delimiter.join(('time', *'ab'))}"
    )
    recording = read(path)
    assert recording.feature_names == ("a", "b")
    assert recording.times == pytest.approx(rows[:, 0])
    assert any("names of the columns from a comment" in note for note in recording.notes)


@pytest.mark.parametrize("error", ["#N/A", "#DIV/0!", "#NAME?"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", " "])
def test_errors_of_spreadsheets_are_no_comments(tmp_path, error, encoding, delimiter):
    rows = [f"{i}.5,{i % 3},2" for i in range(8)]
    for place in (0, 5):
        rows[place] = f"{error},{place % 3},2"
    text = "\n".join(["# größe,b,c", *rows, "# the end", ""]).replace(",", delimiter)
    (tmp_path / "table.csv").write_text(text, encoding=encoding)
    with pytest.raises(ValueError, match=r"größe \(2\), first in row 0"):
        read(tmp_path / "table.csv")
    filled = read(tmp_path / "table.csv", missing="interpolate")
    assert filled.feature_names == ("größe", "b", "c")
    assert filled.X[:, 0].tolist() == [1.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]


@pytest.mark.parametrize("comment", ["# of three", "# a,b", "# a,b,b", "# 1,2,3", "# a,,c"])
def test_other_comments_name_no_columns(tmp_path, comment):
    recording = read_text(tmp_path, f"{comment}\n1,2,3\n4,5,7\n")
    assert recording.feature_names == ("column_0", "column_1", "column_2")
    named = read_text(tmp_path, "# a,b,c\n1,2,3\n4,5,7\n", header=False)
    assert named.feature_names == ("column_0", "column_1", "column_2")


def test_dates_become_seconds_from_the_first(tmp_path):
    text = "when,a\n2024-02-28 23:59:00,1\n2024-02-29 00:00:30,2\n"
    assert read_text(tmp_path, text).times.tolist() == [0, 90]
    assert read_text(tmp_path, "date;a\n28.02.2024;1\n01.03.2024;2\n").times.tolist() == [0, 2 * 86400]


@pytest.mark.parametrize(
    ("stamps", "zone"),
    [
        (["2024-03-01T10:00:00.1+02:00", "2024-03-01T10:00:00.2+02:00"], "+02:00"),
        (["2024-03-01 10:00:00.1", "2024-03-01 10:00:00.2"], ""),
        (["2024-03-01T10:00:00.100000001Z", "2024-03-01T10:00:00.200000001Z"], "UTC"),
        (["2024-03-01 10:00:00.100 -0330", "2024-03-01 10:00:00.200 -0330"], "-03:30"),
    ],
)
def test_dates_keep_their_zone_and_every_digit(tmp_path, stamps, zone):
    recording = read_text(tmp_path, f"when,a\n{stamps[0]},1\n{stamps[1]},2\n")
    assert recording.dates.zone == zone
    parsed = [datetime.fromisoformat(text.replace(" -", "-")) for text in stamps]
    assert [datetime.fromisoformat(text) for text in recording.dates.to_iso()] == parsed
    assert str(recording.dates.instants[0])[20:29] in ("100000", "100000001")
    assert recording.times.tolist() == pytest.approx([0, 0.1])


def test_dates_with_several_offsets_are_in_utc_and_it_is_noted(tmp_path):
    text = "when,a\n2024-03-31T01:59:59+01:00,1\n2024-03-31T03:00:00+02:00,2\n"
    recording = read_text(tmp_path, text)
    assert recording.dates.to_iso() == ["2024-03-31T00:59:59Z", "2024-03-31T01:00:00Z"]
    assert "column 'when' has several offsets from UTC: its dates are in UTC" in recording.notes


@pytest.mark.parametrize(
    ("stamps", "days", "is_noted"),
    [
        (["03.01.24", "04.01.24"], ["2024-01-03", "2024-01-04"], False),
        (["03.01.99 10:00", "04.01.99 10:00"], ["1999-01-03T10:00:00", "1999-01-04T10:00:00"], False),
        (["30/01/24", "31/01/24"], ["2024-01-30", "2024-01-31"], False),
        (
            ["03.01.24 10:00:00.1234", "04.01.24 10:00:00.1235"],  # four digits, but no year
            ["2024-01-03T10:00:00.123400", "2024-01-04T10:00:00.123500"],
            False,
        ),
        (["01/30/24", "01/31/24"], ["2024-01-30", "2024-01-31"], False),
        (["01/05/2024", "02/05/2024"], ["2024-05-01", "2024-05-02"], True),
        (["01/01/2024", "02/02/2024"], ["2024-01-01", "2024-02-02"], False),
        (["01-05-2024", "02-05-2024"], ["2024-05-01", "2024-05-02"], True),
        (["13-05-2024", "14-05-2024"], ["2024-05-13", "2024-05-14"], False),
    ],
)
def test_short_years_are_of_our_time_and_doubtful_months_are_noted(tmp_path, stamps, days, is_noted):
    recording = read_text(tmp_path, "when,x\n" + "".join(f"{stamp},1\n" for stamp in stamps))
    assert recording.dates.to_iso() == days
    assert any("read as day/month/year" in note for note in recording.notes) == is_noted


@pytest.mark.parametrize(
    ("numbers", "dates"),
    [
        (["20240131", "20240201"], ["2024-01-31", "2024-02-01"]),
        (["20240131235959", "20240201000000"], ["2024-01-31T23:59:59", "2024-02-01T00:00:00"]),
        (["202401312359", "202402010000"], ["2024-01-31T23:59", "2024-02-01T00:00"]),
        (["2024013123", "2024020100"], ["2024-01-31T23:00", "2024-02-01T00:00"]),
        (["45322", "45323"], ["2024-01-31", "2024-02-01"]),
        (["45322.999988426", "45323"], ["2024-01-31T23:59:59", "2024-02-01T00:00:00"]),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_dates_that_are_written_as_numbers_are_dates(tmp_path, numbers, dates, ending):
    if ending == "csv":
        (tmp_path / "table.csv").write_text("Date,x\n" + "".join(f"{number},1\n" for number in numbers))
    else:
        pl.DataFrame({"Date": [float(number) for number in numbers], "x": [1.0, 2.0]}).write_parquet(
            tmp_path / "table.parquet"
        )
    recording = read(tmp_path / f"table.{ending}")
    first, second = map(np.datetime64, dates)
    assert recording.dates.local().tolist() == [first.astype("M8[us]").item(), second.astype("M8[us]").item()]
    assert recording.times.tolist() == [0, (second - first) / np.timedelta64(1, "s")]


@pytest.mark.parametrize("first", [20240230, 20241301, 20240100, 18991231, 20240131240000, 20240131.5, 7])
def test_numbers_that_spell_no_date_are_times(tmp_path, first):
    recording = read_text(tmp_path, f"date,x\n{first},1\n{first + 1},2\n")
    assert recording.dates is None
    assert recording.times.tolist() == [first, first + 1]
    assert "the numbers in column 'date' are no dates: they are taken for seconds" in recording.notes


@pytest.mark.parametrize(("name", "unit"), [("date (s)", "s"), ("timestamp", "s"), ("date_days", "d")])
def test_numbers_with_a_unit_are_no_dates(tmp_path, name, unit):
    recording = read_text(tmp_path, f"{name},x\n45322,1\n45323,2\n")
    assert (recording.dates, recording.time_unit, recording.times.tolist()) == (None, unit, [45322, 45323])
    assert not any("the numbers in column" in note for note in recording.notes)


def test_dates_of_parquet_keep_their_zone(tmp_path):
    when = pl.Series(["2024-10-27T00:30:00", "2024-10-27T01:30:00"]).str.to_datetime(time_zone="UTC")
    table = pl.DataFrame({"when": when.dt.convert_time_zone("Europe/Berlin"), "a": [1.0, 3.0]})
    table.write_parquet(tmp_path / "table.parquet")
    recording = read(tmp_path / "table.parquet")
    assert recording.dates.to_iso() == ["2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+01:00"]
    assert recording.times.tolist() == [0, 3600]


@pytest.mark.parametrize(
    ("name", "unit"),
    [("S_Timestamp_Unix_CAL", "ms"), ("unix time", "ms"), ("Run Time (s)", "s"), ("MESS_DATUM", "s")],
)
def test_a_word_for_a_time_may_be_within_a_name(tmp_path, name, unit):
    first = 20240130 if "DATUM" in name else 1_700_000_000_000
    recording = read_text(tmp_path, f"{name},a\n{first},1\n{first + 1},5\n")
    assert (recording.feature_names, recording.time_unit) == (("a",), unit)
    assert (recording.dates is None) == ("DATUM" not in name)
    changing = read_text(tmp_path, numbered(("response_time", lambda i: 1 + i % 3), SENSOR))
    assert changing.feature_names == ("response_time", "flow")


@pytest.mark.parametrize(("factor", "unit"), [(1, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")])
def test_the_unit_of_a_time_since_1970_shows_in_its_size(tmp_path, factor, unit):
    text = "".join(f"{1_700_000_000 * factor + i * factor:.0f},{i % 3}\n" for i in range(4))
    assert read_text(tmp_path, "timestamp,a\n" + text).time_unit == unit
    assert read_text(tmp_path, "time_s,a\n" + text).time_unit == "s"


def numbered(*columns, n=12):
    """A table whose cells are functions of the number of the row."""
    head = ",".join(name for name, _ in columns)
    return head + "\n" + "".join(",".join(str(cell(i)) for _, cell in columns) + "\n" for i in range(n))


SENSOR = ("flow", lambda i: (7 * i) % 5)


@pytest.mark.parametrize(
    ("column", "note"),
    [
        (("n", lambda i: i + 1), "left out column 'n', which counts the rows; name it in columns to keep it"),
        (
            ("", lambda i: 2 * i),
            "left out column 1, which has no name and numbers the rows; name it in columns to keep it",
        ),
        (("T", lambda i: 21.5), "column 'T' is not used as time because it is constant"),
        (("T", lambda i: 21.5), "left out column 'T', which is constant; name it in columns to keep it"),
        (("date", lambda i: "2024-03-01"), "column 'date' is not used as time because it is constant"),
        (("date", lambda i: "2024-03-01"), "left out date columns that are not the time: date"),
    ],
)
def test_counters_and_constants_are_neither_features_nor_the_time(tmp_path, column, note):
    recording = read_text(tmp_path, numbered(column, SENSOR))
    assert recording.feature_names == ("flow",)
    assert recording.time_unit == "sample"
    assert note in recording.notes
    assert recording.notes[-1] == "1 feature: flow"


def test_a_feature_that_only_grows_is_noted(tmp_path):
    meter = ("pulses", lambda i: i // 3)
    recording = read_text(tmp_path, numbered(meter, SENSOR, n=90))
    assert recording.feature_names == ("pulses", "flow")
    assert recording.notes[-2] == (
        "pulses only grows from row to row, so hardly any state can return; if it is a counter or meter, "
        "exclude it"
    )
    both = read_text(tmp_path, numbered(meter, ("energy", lambda i: i // 2), SENSOR, n=90))
    assert both.notes[-2].startswith("pulses, energy only grow from row to row")
    steps = read_text(tmp_path, numbered(("valve", lambda i: i // 30), SENSOR, n=90))
    assert not any("only grow" in note for note in steps.notes)


def test_a_date_or_a_time_is_preferred_to_a_count_of_rows(tmp_path):
    text = numbered(("index", lambda i: i), ("elapsed", lambda i: i / 10), SENSOR)
    recording = read_text(tmp_path, text)
    assert (recording.times[1], recording.time_unit, recording.feature_names) == (0.1, "s", ("flow",))


def test_true_and_false_are_numbers_as_in_other_tables(tmp_path):
    text = "valve,pump,x\nTrue,TRUE,1\nFalse,false,3\n,true,2\n"
    recording = read_text(tmp_path, text, missing="interpolate")
    assert recording.feature_names == ("valve", "pump", "x")
    assert recording.X.tolist() == [[1, 1, 1], [0, 0, 3], [0, 1, 2]]
    words = read_text(tmp_path, "valve,x\nTrue,1\nopen,3\n")
    assert words.feature_names == ("x",)
    assert read_text(tmp_path, "valve,x\n,1\n,3\n", missing="interpolate").feature_names == ("x",)


def test_spaces_around_names_do_not_belong_to_them(tmp_path):
    recording = read_text(tmp_path, " time , temp , rh \n 0 , 20 , 51\n 1 , 21 , 50\n", columns="rh")
    assert (recording.feature_names, recording.times.tolist()) == (("rh",), [0, 1])
    assert read_text(tmp_path, "a,a ,b\n1,2,3\n4,5,7\n").feature_names == ("a", "a ", "b")


def test_a_row_of_numbers_is_a_signal_and_few_rows_of_many_columns_are_noted(tmp_path):
    signal = np.random.default_rng(0).normal(size=(3, 60))
    scipy.io.savemat(tmp_path / "x.mat", {"emg": signal[:1]})
    assert read(tmp_path / "x.mat").X.tolist() == signal[:1].T.tolist()
    np.save(tmp_path / "x.npy", signal)
    recording = read(tmp_path / "x.npy")
    assert recording.X.shape == (3, 60)
    assert any(
        "3 rows are taken for samples" in note and "transpose=true" in note for note in recording.notes
    )
    turned = read(tmp_path / "x.npy", transpose=True)
    assert turned.X.shape == (60, 3)
    assert turned.notes == ("samples are the columns of the array",)
    np.save(tmp_path / "x.npy", signal.T)
    assert read(tmp_path / "x.npy").notes == ()


def test_two_dashes_are_a_missing_value(tmp_path):
    with pytest.raises(ValueError, match=r"missing or infinite values: b \(1\)"):
        read_text(tmp_path, "a,b\n1,2\n3,--\n")


def test_an_unnamed_index_is_recognised_wherever_it_is(tmp_path):
    recording = read_text(tmp_path, numbered(SENSOR, ("Unnamed: 0", lambda i: 3 * i)))
    assert recording.feature_names == ("flow",)


def test_a_temperature_that_changes_is_a_feature(tmp_path):
    recording = read_text(tmp_path, numbered(("T", lambda i: 20 + i % 3), SENSOR))
    assert recording.feature_names == ("T", "flow")


@pytest.mark.parametrize(
    ("options", "features"),
    [
        ({"columns": "flow"}, ("flow",)),
        ({"columns": ["4", "2"]}, ("c", "n")),
        ({"columns": [3]}, ("c",)),
        ({"columns": ["2-4"]}, ("n", "flow", "c")),
        ({"exclude": ["c"]}, ("flow",)),
        ({"exclude": ["time"], "columns": ["flow"]}, ("flow",)),
    ],
)
def test_columns_are_chosen_by_name_or_number(tmp_path, options, features):
    columns = (("time", lambda i: i / 10), ("n", lambda i: i), SENSOR, ("c", lambda i: i % 2))
    recording = read_text(tmp_path, numbered(*columns), **options)
    assert recording.feature_names == features
    assert (recording.time_unit == "s") == ("time" not in options.get("exclude", ()))


def test_gaps_in_columns_that_are_not_used_do_not_matter(tmp_path):
    text = "a,b,c\n1,,x1\n2,5,4\n4,7,5\n"
    assert read_text(tmp_path, text, columns=["a"]).X.tolist() == [[1], [2], [4]]


def test_an_unknown_column_is_an_error_that_lists_the_columns(tmp_path):
    text = "a,b,rock\n1,2,mica\n3,3,mica\n"
    for options in ({"columns": ["x"]}, {"exclude": ["x"]}):
        match = r"must be among the table's columns \(a, b, rock\), or their numbers from 1 to 3; got 'x'"
        with pytest.raises(ValueError, match=match):
            read_text(tmp_path, text, **options)
    for number in ("0", "4", 3, -1):
        with pytest.raises(ValueError, match="numbers from 1 to 3"):
            read_text(tmp_path, text, columns=[number])
    with pytest.raises(ValueError, match=r"columns must be numeric to be features \(a, b\); got 'rock'"):
        read_text(tmp_path, text, columns=["rock"])


def test_columns_of_an_array_are_chosen_by_number(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(12.0).reshape(4, 3))
    recording = read(tmp_path / "x.npy", columns=["1", 2])
    assert recording.X.tolist() == [[0, 2], [3, 5], [6, 8], [9, 11]]
    assert recording.notes[-1] == "2 features: column_0, column_2"
    assert read(tmp_path / "x.npy", exclude=[0]).feature_names == ("column_1", "column_2")


def test_bands_of_one_wavelength_are_different_columns(tmp_path):
    X = np.arange(15.0).reshape(3, 5)
    np.savez(tmp_path / "x.npz", X=X, wavelengths=[4.0, 5, 5, 6, 7])  # of two spectrometers that overlap
    for choice, kept in (
        ({"exclude": "1"}, [1, 2, 3, 4]),
        ({"columns": "3-4"}, [2, 3]),
        ({"exclude": 1}, [0, 2, 3, 4]),
    ):
        recording = read(tmp_path / "x.npz", variable="X", **choice)
        assert recording.X.tolist() == X[:, kept].tolist()
    assert read(tmp_path / "x.npz", variable="X", columns=(1, 2)).feature_names == ("5", "5")


def test_gaps_between_the_largest_numbers_are_filled(tmp_path):
    recording = read_text(tmp_path, "a,b\n1.6e308,1\n,2\n-1.6e308,4\n", missing="interpolate")
    assert recording.X[:, 0].tolist() == [1.6e308, 0, -1.6e308]


def test_rows_of_the_file_are_known_after_some_were_dropped(tmp_path):
    recording = read_text(tmp_path, "a,b\n1,1\nNA,3\n2,5\n", missing="drop")
    assert recording.rows.tolist() == [0, 2]
    assert recording.take(np.array([1])).rows.tolist() == [2]


@pytest.mark.parametrize(
    "clock",
    [lambda i: i % 25, lambda i: -i, lambda i: "" if i in (0, 7) else i / 2],
    ids=["reset", "back", "gaps"],
)
def test_a_clock_that_cannot_be_the_time_is_no_feature_either(tmp_path, clock):
    recording = read_text(tmp_path, numbered(("time", clock), SENSOR, n=60), missing="interpolate")
    assert (recording.feature_names, recording.time_unit) == (("flow",), "sample")
    why = "which is a clock that runs backwards, was set back or has gaps; name it in columns to keep it"
    assert f"left out column 'time', {why}" in recording.notes
    kept = read_text(
        tmp_path, numbered(("time", clock), SENSOR, n=60), columns=["time"], missing="interpolate"
    )
    assert kept.feature_names == ("time",)


@pytest.mark.parametrize("name", ["index_of_refraction", "T"])
def test_what_goes_up_and_down_or_may_be_a_temperature_is_a_feature(tmp_path, name):
    values = (lambda i: 20 - i) if name == "T" else (lambda i: 1.5 + (i % 7) / 10)
    assert read_text(tmp_path, numbered((name, values), SENSOR)).feature_names == (name, "flow")


def test_a_time_that_decreases_in_a_few_rows_is_a_feature_and_is_noted(tmp_path):
    recording = read_text(tmp_path, "time,a\n2,5\n1,6\n")
    assert recording.feature_names == ("time", "a")
    assert "column 'time' is not used as time because it decreases or has gaps" in recording.notes
    with pytest.raises(
        ValueError, match="column 'time' cannot be the time: its values must be finite and never decrease"
    ):
        read_text(tmp_path, "time,a\n2,5\n1,6\n", time="time")


def test_a_core_from_below_has_no_depth_for_a_feature(tmp_path):
    rows = "".join(f"{50 - i / 2},{100 - i},{i % 7}\n" for i in range(30))
    recording = read_text(tmp_path, f"Depth [m],left,a\n{rows}")
    assert recording.feature_names == ("left", "a")
    assert any("'Depth [m]', which is a depth that only falls" in note for note in recording.notes)
    assert any(note.startswith("left only falls from row to row") for note in recording.notes)
    diver = "".join(f"{50 - abs(i - 20)},{i % 7}\n" for i in range(60))
    assert read_text(tmp_path, f"depth,a\n{diver}").feature_names == ("depth", "a")


def test_a_column_can_be_named_for_time_and_labels(tmp_path):
    text = "a,when,what\n1,0,run\n2,5,walk\n3,9,run\n"
    recording = read_text(tmp_path, text, time="when", labels="what")
    assert recording.times.tolist() == [0, 5, 9]
    assert recording.labels.tolist() == [0, 1, 0]
    assert recording.label_names == ("run", "walk")
    for no_column in ("0", -1, "4", "1-2", "2-99999999999", "9" * 5):
        with pytest.raises(ValueError, match=r"time must be a numeric or date column \(a, when\); got"):
            read_text(tmp_path, text, time=no_column)
    with pytest.raises(ValueError, match=r"time must be a numeric or date column \(a, when\); got 'tim'"):
        read_text(tmp_path, text, time="tim")
    with pytest.raises(ValueError, match=r"labels must be one of the columns \(a, when, what\); got 'x'"):
        read_text(tmp_path, text, labels="x")


def test_text_columns_are_left_out_by_name(tmp_path):
    recording = read_text(tmp_path, "a,rock,b,who\n1,mica,2,me\n3,quartz,4,you\n")
    assert recording.X.tolist() == [[1, 2], [3, 4]]
    assert "left out columns that are not numeric: rock, who" in recording.notes


def test_missing_values_are_an_error_unless_asked(tmp_path):
    text = "a,b\n1,2\nNA,4\n5,\n7,8\n"
    with pytest.raises(
        ValueError,
        match=r"table\.csv: some of the 4 rows .*: a \(1\), b \(1\), first in row 1 counted from 0; pass",
    ):
        read_text(tmp_path, text)
    filled = read_text(tmp_path, text, missing="interpolate")
    assert filled.X.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert "filled in missing values by linear interpolation: a (1), b (1)" in filled.notes
    dropped = read_text(tmp_path, text, missing="drop")
    assert (dropped.X.tolist(), dropped.times.tolist()) == ([[1, 2], [7, 8]], [0, 3])
    assert "left out 2 of 4 rows because values are missing" in dropped.notes


@pytest.mark.parametrize("missing", ["interpolate", "drop"])
def test_a_column_without_any_value_is_left_out_and_nothing_else_is_noted(tmp_path, missing):
    recording = read_text(tmp_path, "a,b,c\n1,,3\n2,,4\n", missing=missing)
    assert recording.X.tolist() == [[1, 3], [2, 4]]
    assert recording.feature_names == ("a", "c")
    assert recording.notes[1:] == ("left out because all values are missing: b", "2 features: a, c")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("time,a,b,\n0,1,2,\n1,3,5,\n", "left out 1 column at the end without a name or a value"),
        ("time;a;b;;\n0;1,5;2;;\n1;3;5;;\n", "left out 2 columns at the end without a name or a value"),
        ("0,1,2,\n1,3,5,\n", "left out 1 column at the end without a name or a value"),
        ("time,a,b\n0,1,2\n1,3,5\n\n \n", "left out 2 blank rows at the end"),
        ("time,a,b\n0,1,2\n1,3,5\n,,\n", "left out 1 blank row at the end"),
        ("a,b,note\n1,2,x\n3,5,y\n,,\n", "left out 1 blank row at the end"),
    ],
)
@pytest.mark.parametrize("missing", ["error", "interpolate"])
def test_what_only_ends_lines_and_file_is_left_out(tmp_path, text, note, missing):
    recording = read_text(tmp_path, text, missing=missing)
    assert len(recording) == 2
    assert recording.X[:, -1].tolist() == [2, 5]
    assert note in recording.notes


def test_values_that_are_missing_at_the_end_are_no_blank_rows(tmp_path):
    with pytest.raises(ValueError, match="b \\(1\\), first in row 1"):
        read_text(tmp_path, "time,a,b\n0,1,2\n1,3,\n")
    with pytest.raises(ValueError, match="b \\(2\\), first in row 0"):
        read_text(tmp_path, "time,a,b\n0,1,\n1,3,\n")


def test_lines_may_end_as_on_old_macs(tmp_path):
    assert read_text(tmp_path, "a,b\r1,2\r3,5\r").X.tolist() == [[1, 2], [3, 5]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3,5,6\n4,7\n4,7\n4,7\n", "line 3 has 3 cells, and those before have 2"),
        ('a,b,c\n1,2,x\n3,5,"x\n4,7,x\n', "a quote is opened and not closed"),
    ],
)
def test_what_is_wrong_with_a_table_is_said_with_its_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=rf"table\.csv: {message}"):
        read_text(tmp_path, text)


def test_words_for_missing_values_late_in_the_file_are_found(tmp_path):
    text = "a,b\n" + "1,2\n" * 500 + "N/A,2\n"
    with pytest.raises(ValueError, match=r"some of the 501 rows have missing or infinite values: a \(1\)"):
        read_text(tmp_path, text)


def test_a_header_may_have_words_where_other_names_are_numbers(tmp_path):
    recording = read_text(tmp_path, "depth,400.5,500\n1,2,3\n2,3,4\n")
    assert recording.feature_names == ("400.5", "500")
    assert recording.X.tolist() == [[2, 3], [3, 4]]


def test_a_word_among_numbers_is_named_with_its_row(tmp_path):
    text = "a,b\n" + "1,2\n" * 500 + "1,err\n"
    with pytest.raises(
        ValueError, match=r"column 'b' has 1 non-numeric cell, the first being 'err' in row 500"
    ):
        read_text(tmp_path, text)
    filled = read_text(tmp_path, text, missing="interpolate")
    assert filled.X[500].tolist() == [1, 2]
    assert any("'err'" in note for note in filled.notes)


def test_whole_numbers_at_first_and_fractions_later(tmp_path):
    assert read_text(tmp_path, "a,b\n" + "1,2\n" * 30_000 + "1.5,2\n").X[-1, 0] == 1.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n1,2,3\n", "line 3 has 3 cells"),
        ("a,b\nx,y\n", "the table has no numeric column to use as a feature; its columns are a, b"),
        ("a,b\n", "the table has no rows"),
        ("\n\n", "expected lines of text"),
    ],
)
def test_tables_that_are_none(tmp_path, text, message):
    with pytest.raises(ValueError, match=rf"table\.csv.*{message}"):
        read_text(tmp_path, text)


def test_the_user_overrules_what_was_found(tmp_path):
    recording = read_text(tmp_path, "1;2\n3;4\n", delimiter=";", header=True, decimal=".")
    assert recording.feature_names == ("1", "2")
    with pytest.raises(ValueError, match=r"delimiter must be one ASCII character; got '::'"):
        read_text(tmp_path, "1;2\n3;4\n", delimiter="::")


def test_packed_tables(tmp_path):
    import gzip

    (tmp_path / "table.csv.gz").write_bytes(gzip.compress(b"t,a\n0,1\n1,2\n"))
    assert read(tmp_path / "table.csv.gz").X.tolist() == [[1], [2]]


@pytest.mark.parametrize("name", ["csv", "parquet", "feather"])
def test_tables_hold_what_was_written(tmp_path, name):
    recording = read(write_sample(name, tmp_path))
    assert pytest.approx(matrix()[:, :2]) == recording.X
    assert recording.feature_names == ("a", "b")
    assert recording.times.tolist() == (np.arange(20) * 10).tolist()
    assert recording.time_unit == "ms"
    assert "left out columns that are not numeric: note" in recording.notes


@pytest.mark.parametrize("name", ["parquet", "feather"])
def test_columns_of_durations_are_times_and_features(tmp_path, name):
    lag = [timedelta(milliseconds=3), None, timedelta(milliseconds=5), timedelta(milliseconds=4)]
    when = [timedelta(seconds=each) for each in (0, 30, 60, 90)]
    frame = pl.DataFrame({"time (min)": when, "lag_ms": lag, "x": [1.0, 2.0, 4.0, 3.0]})
    getattr(frame, "write_parquet" if name == "parquet" else "write_ipc")(tmp_path / f"table.{name}")
    recording = read(tmp_path / f"table.{name}", missing="drop")
    assert (recording.times.tolist(), recording.time_unit) == ([0, 1, 1.5], "min")
    assert recording.feature_names == ("lag_ms", "x")
    assert recording.X[:, 0] == pytest.approx([3, 5, 4])


def test_columnar_missing_values_dates_and_labels(tmp_path):
    dates = pl.Series(["2024-01-01T00:00:00", "2024-01-01T00:00:10", "2024-01-01T00:00:20"]).str.to_datetime()
    frame = pl.DataFrame(
        {"at": dates, "a": [1.0, None, 3.0], "on": [True, False, True], "what": ["x", "y", "x"]}
    )
    frame.write_parquet(tmp_path / "table.parquet")
    recording = read(tmp_path / "table.parquet", missing="interpolate", labels="what")
    assert recording.X.tolist() == [[1, 1], [2, 0], [3, 1]]
    assert recording.times.tolist() == [0, 10, 20]
    assert recording.labels.tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", ["npy", "npz", "mat5", "mat73"])
def test_arrays_hold_what_was_written(tmp_path, name):
    recording = read(write_sample(name, tmp_path))
    assert np.array_equal(recording.X, matrix())


@pytest.mark.parametrize(("name", "labels"), [("npz", "label"), ("mat5", "labels"), ("mat73", "labels")])
def test_labels_are_taken_from_an_array(tmp_path, name, labels):
    recording = read(write_sample(name, tmp_path), labels=labels)
    assert recording.labels.tolist() == (np.arange(20) // 5).tolist()


def test_several_matrices_need_a_choice(tmp_path):
    np.savez(tmp_path / "arrays.npz", one=np.ones((3, 2)), two=np.ones((4, 5)), clock=np.arange(4.0))
    with pytest.raises(ValueError, match=r"one 3 x 2, two 4 x 5, clock 4.*choose one with variable="):
        read(tmp_path / "arrays.npz")
    recording = read(tmp_path / "arrays.npz", variable="two", time="clock")
    assert recording.X.shape == (4, 5)
    assert any("unused arrays: one" in note for note in recording.notes)
    with pytest.raises(ValueError, match=r"time has 4 values, but X of shape \(3, 2\) needs 3"):
        read(tmp_path / "arrays.npz", variable="one", time="clock")


@pytest.mark.parametrize(
    ("given", "kept", "ending"),
    [
        *((given, kept, ".npy") for given, kept in [("?", "u1"), ("f2", "f4"), ("g", "f8"), (">f4", ">f4")]),
        *((given, kept, ".npz") for given, kept in [("?", "u1"), ("f2", "f4"), ("i2", "i2")]),
        *((given, kept, ".mat") for given, kept in [("?", "u1"), ("i2", "i2"), ("f4", "f4")]),
    ],
)
def test_arrays_keep_types_in_which_one_can_calculate(tmp_path, given, kept, ending):
    values = (matrix() > 0).astype(given)
    path = tmp_path / f"array{ending}"
    if ending == ".npy":
        np.save(path, values)
    elif ending == ".npz":
        np.savez(path, X=values)
    else:
        scipy.io.savemat(path, {"X": values})
    X = read(path).X
    assert X.dtype == np.dtype(kept)
    assert np.array_equal(X, matrix() > 0)


def test_samples_in_columns(tmp_path):
    np.save(tmp_path / "array.npy", matrix())
    assert np.array_equal(read(tmp_path / "array.npy", transpose=True).X, matrix().T)


def test_stacks_of_pictures_are_a_video(tmp_path):
    frames = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
    np.save(tmp_path / "array.npy", frames)
    recording = read(tmp_path / "array.npy")
    assert (recording.kind, recording.X.dtype) == ("video", np.uint8)
    assert np.array_equal(recording.view.sample(1), frames[1])


def test_missing_values_in_arrays(tmp_path):
    X = matrix()
    X[4, 2] = np.nan
    np.save(tmp_path / "array.npy", X)
    with pytest.raises(
        ValueError, match=r"array\.npy: some of the 20 rows have missing or infinite values: column_2 \(1\)"
    ):
        read(tmp_path / "array.npy")
    assert read(tmp_path / "array.npy", missing="drop").times.tolist() == np.delete(np.arange(20), 4).tolist()


@pytest.mark.parametrize("values", [np.array([[1j, 2]]), np.array([["a", "b"]]), np.zeros(2, "i4,f8")])
def test_arrays_that_are_not_real_numbers(tmp_path, values):
    np.save(tmp_path / "array.npy", values)
    with pytest.raises(ValueError, match=r"array\.npy: expected real numbers"):
        read(tmp_path / "array.npy")


def test_pickled_objects_are_never_loaded(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "exploded"), "w"))

    np.save(tmp_path / "array.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "arrays.npz", X=np.array([[Bomb()] * 2] * 2, dtype=object))
    for name in ("array.npy", "arrays.npz"):
        with pytest.raises(ValueError, match=name):
            read(tmp_path / name)
    with pytest.raises(ValueError, match=r"arrays\.npz"):
        read(tmp_path / "arrays.npz", variable="X", labels="X")
    assert not (tmp_path / "exploded").exists()


def test_a_header_that_claims_more_than_the_file_holds(tmp_path):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "<f8", "fortran_order": False, "shape": (2**40, 2**20)}
    )
    (tmp_path / "array.npy").write_bytes(buffer.getvalue() + b"\0" * 64)
    with pytest.raises(ValueError, match=r"array\.npy: the file is cut off: an array of shape"):
        read(tmp_path / "array.npy")


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("name", ["a[1]", "a*", "a?"])
def test_a_name_is_not_a_pattern(tmp_path, name, ending):
    write = {"csv": "write_csv", "parquet": "write_parquet", "feather": "write_ipc"}[ending]
    for stem, value in (("a1", 1.0), ("ab", 2.0), (name, 3.0)):
        with (tmp_path / f"{stem}.{ending}").open("wb") as file:  # a path would be a pattern to polars
            getattr(pl.DataFrame({"x": [value] * 4, "y": [0.0, 1.0, 2.0, 3.0]}), write)(file)
    wanted = [[3.0, float(row)] for row in range(4)]
    assert read(tmp_path / f"{name}.{ending}").X.tolist() == wanted
    assert [block.tolist() for block in read_blocks(tmp_path / f"{name}.{ending}", 9)] == [wanted]
