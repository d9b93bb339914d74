"""Corrected tables of spans: what is read, what is refused and in which words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan._core.spans import Division, make_spans
from seqspan._core.text import label_of, name_label
from seqspan.results.corrections import read_corrections
from seqspan.results.tables import write_segments

TIMES = np.arange(10) * 0.5
GOOD = "start,end,start_time,end_time,label,confidence\n0,4,0,2,0,\n4,7,2,3.5,1,0.9\n7,10,3.5,5,0,0.8\n"


def read(folder, text):
    (folder / "fixed.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    return read_corrections(folder / "fixed.csv", TIMES)


def spans_of(corrections):
    division = corrections.division
    return [0, *division.boundaries.tolist()], division.labels.tolist()


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "start,end,label\n0,4,A\n4,7,B\n7,10,A\n",
        "label;end;start\r\n0;4;0\r\n1;7;4\r\n0;10;7\r\n",
        "\ufeffStart\tEnd\tLabel\n0\t4.0\t0\n4.0\t7.0\t1\n7\t10\t0\n\n,,\n".replace(",,", ""),
        "start,end,label\n7,10,0\n0,4,0\n4,7,1\n",
    ],
    ids=["ours", "letters", "a spreadsheet's", "tabs", "another order"],
)
def test_tables_of_spreadsheets_and_people_are_read(tmp_path, text):
    corrections = read(tmp_path, text)
    assert spans_of(corrections) == ([0, 4, 7], [0, 1, 0])
    assert corrections.notes == ()


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.randoms())
def test_every_division_comes_back_as_it_was_written(tmp_path_factory, lengths, random):
    labels = np.array([random.randrange(4) for _ in lengths])
    division = Division(np.cumsum(lengths)[:-1], labels)
    times = np.sort(np.array([random.uniform(-9, 9) for _ in range(sum(lengths))]))
    path = tmp_path_factory.mktemp("tables") / "segments.csv"
    spans = make_spans(division.sample_labels(sum(lengths)), division.boundaries, times)
    write_segments(path, spans)
    found = read_corrections(path, times)
    assert found.notes == ()
    assert found.division.boundaries.tolist() == division.boundaries.tolist()
    assert found.division.labels.tolist() == labels.tolist()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is empty"),
        ("start,end,label\n", "it has a header but no rows"),
        ("start,label\n0,A\n", "the columns start, end, label are needed; end not found"),
        ("start,end,label,colour\n0,10,A,red\n", "unknown columns 'colour'; known are start, end, label"),
        ("start,end,label,end\n0,10,A,10\n", "the column end is there 2 times"),
        ("start,end,label\n0,10\n", "line 2 has 2 cells, but the header has 3"),
        ("start,end,label\n0,10,\n", "line 2: label is empty"),
        ("start,end,label\n0,five,A\n", "line 2: end must be the number of a sample; got 'five'"),
        ("start,end,label\n0,4.5,A\n4.5,10,B\n", "line 2: end must be the number of a sample; got '4.5'"),
        ("start,end,label\n0,4,A\n4,4,B\n4,10,A\n", "line 3: end must be after start; got 4 to 4"),
        ("start,end,label\n0,5,A\n4,10,B\n", r"line 2 \(0 to 5\) and line 3 \(4 to 10\) overlap"),
        ("start,end,label\n0,4,A\n5,10,B\n", r"sample 4 belongs to no span, between line 2 \(0 to 4\) and"),
        ("start,end,label\n0,4,A\n6,10,B\n", "samples 4 to 5 belong to no span, between line 2"),
        ("start,end,label\n2,10,A\n", "samples 0 to 1 belong to no span, before line 2"),
        ("start,end,label\n0,9,A\n", "sample 9 belongs to no span, after line 2"),
        (
            "start,end,label\n0,11,A\n",
            r"\(0 to 11\) is out of range: the recording has samples 0 to 9",
        ),
        ("start,end,label\n-1,10,A\n", "is out of range"),
        ("start,end,label\n0,nan,A\n", "end must be the number of a sample"),
        ("start,end,label\n0,inf,A\n", "end must be the number of a sample"),
        ('start,end,label\n0,10,"A\n', "line 2: unexpected end of data"),
        (b"start,end,label\n0,10,\xff\n", "can't decode byte"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, words):
    with pytest.raises(ValueError, match=rf"fixed\.csv: not a table of spans: .*{words}"):
        read(tmp_path, text)


def test_times_that_somebody_changed_in_vain_are_noted(tmp_path):
    text = GOOD.replace("0,4,0,2,0,", "0,4,0,2.5,0,").replace("4,7,2,3.5", "4,7,2.5,3.5")
    corrections = read(tmp_path, text)
    assert spans_of(corrections) == ([0, 4, 7], [0, 1, 0])
    assert corrections.notes == (
        "corrected table, lines 2, 3: times were computed again from start and end, which decide",
    )


def test_names_get_the_next_letters_and_are_noted(tmp_path):
    corrections = read(tmp_path, "start,end,label\n0,4,walk\n4,7,1\n7,9,walk\n9,10,run\n")
    assert spans_of(corrections) == ([0, 4, 7, 9], [2, 1, 2, 3])
    assert corrections.notes == ("the label 'walk' is shown as C", "the label 'run' is shown as D")


def test_a_large_table_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("seqspan.results.corrections.MAX_BYTES", 10)
    with pytest.raises(ValueError, match="at most 10 bytes are allowed; got 91"):
        read(tmp_path, GOOD)


@given(st.integers(0, 701))
def test_letters_are_read_as_they_are_written(label):
    assert label_of(name_label(label)) == label_of(str(label)) == label


@pytest.mark.parametrize("name", ["", "a", "walk", "AAA", "A1", "-1", "Ä", "٣"])
def test_other_words_are_names(name):
    assert label_of(name) is None
