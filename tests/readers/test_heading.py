"""Titles above a table, names of columns in any of several lines, units below them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqspan.readers import read
from seqspan.readers._dialect import find_dialect

X = np.round(np.random.default_rng(0).normal(10, 2, (30, 3)), 2)


def read_below(folder, heading, delimiter=",", rows=None, encoding="utf-8", **options):
    """Read numbers below a heading."""
    rows = X if rows is None else rows
    body = "".join(delimiter.join(map(str, row)) + "\n" for row in rows)
    (folder / "table.csv").write_bytes((heading + body).encode(encoding))
    return read(folder / "table.csv", **options)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize(
    ("heading", "line"),
    [
        ("Logger 4;;\nExported 1.3.2024;;\n;;\nDruck;Wärme;Weg\n", 4),  # as Excel writes it
        ("Serial;1234;\nInterval;10;s\nDruck;Wärme;Weg\n", 3),
        ("Wärme of plant 4\n\nDruck;Wärme;Weg\n[bar];[°C];mm\n", 3),
        ("Druck;Wärme;Weg\nbar;°C;mm\n", 1),
        ('"a title\nin two lines"\nDruck;Wärme;Weg\n', 3),
        ('"Logger";"CR1000";"7"\nDruck;Wärme;Weg\n"TS";"RN";"Volts"\n"";"Avg";"Smp"\n', 2),  # Campbell
        ("sep=;\nDruck;Wärme;Weg\n", 2),
    ],
)
def test_names_are_found_among_several_lines(tmp_path, heading, line, encoding):
    recording = read_below(tmp_path, heading, ";", encoding=encoding)
    assert recording.feature_names == ("Druck", "Wärme", "Weg")
    np.testing.assert_array_equal(recording.X, X)
    assert f"names of the columns from line {line}; left out" in recording.notes[0]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
def test_other_lines_are_left_out_between_any_delimiters(tmp_path, delimiter):
    heading = f"# of plant 4\nReport\n\n{delimiter.join('abc')}\n{delimiter.join(['bar', 'K', 'm/s'])}\n"
    recording = read_below(tmp_path, heading, delimiter)
    assert recording.feature_names == ("a", "b", "c")
    np.testing.assert_array_equal(recording.X, X)
    assert recording.notes[0].endswith("left out 2 other lines above the rows, such as 'Report'")


def test_the_unit_of_the_time_is_below_its_name(tmp_path):
    rows = np.column_stack([np.arange(30) * 20, X[:, :2]])
    recording = read_below(tmp_path, "Time,a,b\n(ms),bar,K\n", rows=rows)
    assert (recording.feature_names, recording.time_unit) == (("a", "b"), "ms")
    assert recording.times.tolist() == rows[:, 0].tolist()
    alone = read_below(tmp_path, "Time,a,b\n,bar,K\n", rows=rows)
    assert alone.time_unit == "s"


def test_there_may_be_as_many_titles_as_rows(tmp_path):
    titles = "".join(f"Channel {place}\t{place}\tcalibrated\tyes\n" for place in range(9))
    for delimiter in ",;":
        recording = read_below(tmp_path, f"{titles}{delimiter.join('abc')}\n", delimiter, rows=X[:8])
        assert recording.feature_names == ("a", "b", "c")
        np.testing.assert_array_equal(recording.X, X[:8])


def test_words_of_titles_are_no_cells_between_spaces(tmp_path):
    rows = [[10 + i, "", *row] for i, row in enumerate(np.tile(X, (5, 1)))]
    heading = "// Update rate: 100\n// Firmware version: 4.0.2\nCounter\tFine\tx\ty\tz\n"  # of Xsens
    recording = read_below(tmp_path, heading, "\t", rows=rows, missing="drop")
    assert recording.feature_names == ("x", "y", "z")
    np.testing.assert_array_equal(recording.X, np.tile(X, (5, 1)))


def test_a_blank_line_may_follow_the_names(tmp_path):
    recording = read_below(tmp_path, "Report\na,b,c\nbar,K,mm\n\n")
    assert recording.feature_names == ("a", "b", "c")
    np.testing.assert_array_equal(recording.X, X)


def test_names_and_units_may_be_in_single_quotes(tmp_path):
    rows = [[f"'0:00.{i:02d}0'", *row] for i, row in enumerate(X[:, :2])]  # as PhysioNet writes them
    recording = read_below(tmp_path, "'Elapsed time','MLII','V5'\n'hh:mm:ss.mmm','mV','mV'\n", rows=rows)
    assert recording.feature_names == ("MLII", "V5")
    assert recording.times == pytest.approx(np.arange(30) / 100)


@pytest.mark.parametrize("index", [True, False])
def test_names_of_two_levels_are_put_together(tmp_path, index):
    names = pd.MultiIndex.from_product([["left", "right"], ["x", "y"]])
    frame = pd.DataFrame(np.column_stack([X, X[:, 0]]), columns=names)
    frame.to_csv(tmp_path / "table.csv", index=index)
    recording = read(tmp_path / "table.csv")
    assert recording.feature_names == ("left x", "left y", "right x", "right y")
    np.testing.assert_array_equal(recording.X, frame.to_numpy())
    merged = read_below(tmp_path, "left,,right\nx,y,x\n")  # as a spreadsheet writes merged cells
    assert merged.feature_names == ("left x", "left y", "right x")
    same = read_below(tmp_path, "a title\nx,y,x\n")
    assert same.feature_names == ("x", "y", "x_duplicated_0")


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("a,b,c\n", ("a", "b", "c")),
        ("", ("column_0", "column_1", "column_2")),
        ("a title\n", ("column_0", "column_1", "column_2")),
        ("b,c\n", ("", "b", "c")),  # as R writes it
    ],
)
def test_no_line_or_one_above_the_rows(tmp_path, heading, names):
    recording = read_below(tmp_path, heading)
    assert recording.feature_names == names
    np.testing.assert_array_equal(recording.X, X)


@pytest.mark.parametrize(
    "rows",
    [
        [["1", "NA", "NA"], ["NA", "", "2"], *X.tolist()],
        [["", "", ""], *X.tolist()],
    ],
)
def test_samples_with_gaps_are_no_heading(tmp_path, rows):
    recording = read_below(tmp_path, "a,b,c\n", rows=rows, missing="interpolate")
    assert len(recording) == len(rows)
    assert recording.feature_names == ("a", "b", "c")


def test_cells_that_are_no_numbers_are_still_refused(tmp_path):
    with pytest.raises(ValueError, match="column 'b' has 1 non-numeric cell, the first being 'x' in row 0"):
        read_below(tmp_path, "a,b,c\n", rows=[["1", "x", "2"], *X.tolist()])
    with pytest.raises(ValueError, match="non-numeric cell"):
        read_below(tmp_path, "a,b,c\nbar,K,mm\n", header=True)


def test_text_columns_may_hold_words_beside_gaps(tmp_path):
    rows = [["ok", "NA", "NA"], *([["ok", *row[1:]] for row in X.tolist()])]
    recording = read_below(tmp_path, "state,b,c\n", rows=rows, missing="interpolate")
    assert len(recording) == len(rows)


@settings(max_examples=50, deadline=None)
@given(
    titles=st.lists(st.sampled_from(["Report", "Serial,7", "Serial,7,", ",,", "by,hand,today"]), max_size=4),
    units=st.booleans(),
)
def test_any_titles_and_units_leave_the_same_table(titles, units):
    lines = [*titles, "p,q,r", *(["bar,K,mm"] if units else []), *(",".join(map(str, row)) for row in X)]
    dialect, rows = find_dialect("\n".join(lines).encode(), whole=True)
    if titles or units:
        assert (dialect.names, dialect.n_above, rows[0]) == (
            ("p", "q", "r"),
            len(titles) + 1 + units,
            [str(value) for value in X[0]],
        )
    else:
        assert dialect.header
