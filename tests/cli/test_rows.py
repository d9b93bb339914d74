"""Rows from lines of text, whatever arrives."""

from __future__ import annotations

import pytest

from seqspan.cli.rows import RowParser


def rows_of(*lines):
    parser = RowParser()
    return [row for line in lines if (row := parser.parse(line)) is not None], parser


@pytest.mark.parametrize("line", ["1,2,3", "1; 2;3", "1\t2\t3", "1  2 3", "[1, 2, 3]", '"1","2","3"'])
def test_every_delimiter_is_understood(line):
    assert rows_of(line)[0] == [[1, 2, 3]]


def test_a_header_names_the_columns_and_times_are_no_features():
    rows, parser = rows_of("\ufeffTimestamp,left,right", "2026-01-01,1,2", "2026-01-02,3,4")
    assert rows == [[1, 2], [3, 4]]
    assert parser.names == ["left", "right"]


def test_json_objects_may_come_in_any_order():
    rows, parser = rows_of('{"a": 1, "b": 2, "time": 5, "note": "x"}', '{"b": 4, "a": 3}')
    assert rows == [[1, 2], [3, 4]]
    assert parser.names == ["a", "b"]


@pytest.mark.parametrize("gap", ["", "nan", "NA", "null", "inf"])
def test_missing_values_are_those_before(gap):
    assert rows_of("a,b", f"{gap},1", "2,3", f"4,{gap}", f"{gap},5")[0] == [[2, 3], [4, 3], [4, 5]]
    assert rows_of('{"a": 1, "b": 2}', '{"a": null}', '{"b": 7}')[0] == [[1, 2], [1, 2], [1, 7]]


def test_blank_lines_are_gaps_and_other_lines_are_counted():
    rows, parser = rows_of("1,2", "", "  ", "3", "4,word", '{"broken', "[true]", "5,6,7")
    assert rows == [[1, 2], [5, 6]]
    assert parser.n_refused == 4


@pytest.mark.parametrize(
    ("lines", "rows", "names"),
    [
        (["Time (s),left knee,note", "0.1,1,ok", "0.2,2,"], [[1], [2]], ["left knee"]),
        (["Zeit;links;rechts", "0,5;1,5;2", "1;;3,25"], [[1.5, 2], [1.5, 3.25]], ["links", "rechts"]),
        (['"time","a, left","b"', '0,"1","2"'], [[1, 2]], ["a, left", "b"]),
        (["a\tb\t", "1\t2\t", "\t3\t4"], [[1, 2]], ["a", "b"]),
    ],
)
def test_tables_as_programs_write_them(lines, rows, names):
    found, parser = rows_of(*lines)
    assert found[: len(rows)] == rows
    assert names is None or parser.names[: len(names)] == names


def test_other_delimiters_may_be_within_a_cell():
    rows, parser = rows_of("a,b,note", '1,2,"x; y"', "3,4,x\ty", "5,6,z")
    assert (rows, parser.n_refused) == ([[1, 2], [3, 4], [5, 6]], 0)


def test_beside_a_time_what_may_be_a_temperature_is_a_feature():
    assert rows_of("time,T,depth,p", "0,20,3,1")[0] == [[20, 3, 1]]
    assert rows_of("T,p", "20,1")[0] == [[1]]
    assert rows_of("time,frame,p", "0,7,1")[1].times == ["time", "frame"]


def test_names_may_be_in_a_comment():
    rows, parser = rows_of("# by hand", "# time,a,b", "0,1,2", "# pause", "1,3,4")
    assert (rows, parser.names, parser.n_refused) == ([[1, 2], [3, 4]], ["a", "b"], 0)
    assert rows_of("# by hand", "a,b", "1,2")[1].names == ["a", "b"]
    assert rows_of("# by hand", "1,2")[0] == [[1, 2]]


def test_only_wanted_columns_are_used_if_they_have_names():
    parser = RowParser(wanted=["b", "a"])
    assert [parser.parse(line) for line in ("a,c,b", "1,,2", "3,5,4")] == [None, [1, 2], [3, 4]]
    assert (parser.names, parser.n_unused) == (["a", "b"], 1)
    parser = RowParser(wanted=["b", "a"])
    assert parser.parse("1,2,3") == [1, 2, 3]
    assert not parser.named


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"a": 1' + "0" * 400 + "}",
        '{"a": 1' + "0" * 5000 + "}",
        '1,"' + "2" * 200_000,
        "\0,\0",
        '{"temperature": 1}',
        "[7]",
    ],
)
def test_no_line_stops_the_program_or_repeats_the_row_before(line):
    for first in (["a,b", "1,2"], ["[1, 2]"], ['{"a": 1, "b": 2}']):
        rows, _ = rows_of(*first, line, "[3, 4]" if first == ["[1, 2]"] else '{"a": 3, "b": 4}')
        assert [row for row in rows if row != [1, 2]] == [[3, 4]]
        assert len(rows) == 2 or line.startswith('{"a": 10')  # an infinite value is a missing one
    assert rows_of(line)[0] in ([], [[1]], [[7]])


def test_a_header_that_comes_again_may_name_the_columns_in_another_order():
    rows, parser = rows_of("time,a,b", "0,1,2", "time,a,b", "1,3,4", "b,time,a", "6,2,5", "x,y,z", "8,3,7")
    assert rows == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert parser.n_refused == 1  # the names of other columns


def test_thousands_separators_are_read_as_by_segment():
    rows, parser = rows_of("volume,p", '"1,234.5",3', '"12,345",4', '"$1,000",5')
    assert (rows, parser.n_refused) == ([[1234.5, 3], [12345, 4], [1000, 5]], 0)
    assert rows_of("a;b", "1.234,5;2", '3,5;"1,234.5"')[0] == [[1234.5, 2], [3.5, 1234.5]]
    assert rows_of("a\tb", "1 234,5\t2")[0] == [[1234.5, 2]]
    assert rows_of('{"a": "1,234.5"}')[0] == [[1234.5]]


def test_numbers_that_stand_for_missing_values_are_those_before():
    parser = RowParser(codes=[-9999.0, -200.0])
    assert [parser.parse(line) for line in ("a,b", "-9999,2", "1,3", "-200.0,4", '{"a": -9999, "b": 5}')] == [
        None,
        None,
        [1, 3],
        [1, 4],
        [1, 5],
    ]


def test_parts_of_a_date_are_no_features():
    rows, parser = rows_of("year,month,day,hour,p", "2024,3,1,5,7")
    assert (rows, parser.times) == ([[7]], ["year", "month", "day", "hour"])
    assert rows_of("year,p", "2024,7")[0] == [[2024, 7]]
