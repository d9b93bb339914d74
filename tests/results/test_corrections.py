"""Corrected tables of spans: what is read, what is refused and in which words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan._core.dates import Dates
from seqspan._core.spans import Division, make_spans
from seqspan._core.text import label_of, name_label
from seqspan.recording import Recording
from seqspan.results.corrections import read_corrections
from seqspan.results.tables import write_segments

TIMES = np.arange(10) * 0.5
GOOD = "start,end,start_time,end_time,label,confidence\n0,4,0,2,0,\n4,7,2,3.5,1,0.9\n7,10,3.5,5,0,0.8\n"


def walk(times, dates=None):
    X = np.zeros((len(times), 1))
    return Recording(X=X, times=times, time_unit="s", feature_names=("x",), kind="table", dates=dates)


def read(folder, text, names=(), recording=None):
    (folder / "fixed.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    return read_corrections(folder / "fixed.csv", recording or walk(TIMES), names)


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
    found = read_corrections(path, walk(times))
    assert found.notes == ()
    assert found.division.boundaries.tolist() == division.boundaries.tolist()
    assert found.division.labels.tolist() == labels.tolist()


@pytest.mark.parametrize("names", [("", "3", "", "x"), ("unknown", "-1", "0", "2"), ("1", "2", "3", "0")])
def test_labels_named_like_others_stay_apart(tmp_path, names):
    labels = np.array([0, 1, 2, 3, -1])
    spans = make_spans(np.repeat(labels, 2), np.arange(2, 10, 2), TIMES)
    write_segments(tmp_path / "segments.csv", spans, names=names)
    found = read_corrections(tmp_path / "segments.csv", walk(TIMES), names)
    assert found.division.labels.tolist() == labels.tolist()
    assert [found.names[label] for label in range(4)] == [*names]


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
        (b"start,end,label\n0,10,\xff\n", "it is not UTF-8 text; save it as CSV UTF-8"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, words):
    with pytest.raises(ValueError, match=rf"fixed\.csv: not a table of spans: .*{words}"):
        read(tmp_path, text)


@pytest.mark.parametrize("label", ["1000000", "99999999999999999999", "1" * 5000])
def test_labels_with_absurd_numbers_are_refused(tmp_path, label):
    with pytest.raises(ValueError, match=r"fixed\.csv: not a table of spans: labels must be names"):
        read(tmp_path, f"start,end,label,name\n0,4,0,x\n4,10,{label},y\n")


def test_labels_may_be_written_as_a_data_frame_writes_them(tmp_path):
    corrections = read(tmp_path, "start,end,label\n0,4,0.0\n4,7,-1.0\n7,10,1.0\n")
    assert spans_of(corrections) == ([0, 4, 7], [0, -1, 1])
    assert corrections.names == {}


def test_times_that_somebody_changed_in_vain_are_noted(tmp_path):
    text = GOOD.replace("0,4,0,2,0,", "0,4,0,2.5,0,").replace("4,7,2,3.5", "4,7,2.5,3.5")
    corrections = read(tmp_path, text)
    assert spans_of(corrections) == ([0, 4, 7], [0, 1, 0])
    assert corrections.notes == (
        "corrected table, lines 2, 3: times were computed again from start and end, which decide",
    )


def test_a_table_without_times_changes_none(tmp_path):
    for columns in ("start,end,label", "start,end,start_time,label", "start,end,end_time,label"):
        time = "," if "time" in columns else ""
        corrections = read(tmp_path, f"{columns}\n0,4,{time}0\n4,7,{time}1\n7,10,{time}0\n")
        assert corrections.notes == ()


def test_names_in_the_column_of_labels_get_the_next_labels_and_stay_names(tmp_path):
    text = "start,end,label\n0,4,walk\n4,7,1\n7,9,walk\n9,10,run\n"
    corrections = read(tmp_path, text)
    assert spans_of(corrections) == ([0, 4, 7, 9], [2, 1, 2, 3])
    assert corrections.names == {2: "walk", 3: "run"}
    assert corrections.notes == ()
    corrections = read(tmp_path, text, names=("", "", "", "walk"))  # a name that is known means its label
    assert spans_of(corrections) == ([0, 4, 7, 9], [3, 1, 3, 4])
    assert corrections.names == {3: "walk", 4: "run"}


NAMED = "start,end,label,name\n0,4,0,{}\n4,7,1,{}\n7,10,0,{}\n"


@pytest.mark.parametrize(
    ("stated", "before", "names", "notes"),
    [
        (("walk", "run", "walk"), (), {0: "walk", 1: "run"}, ()),
        (("walk", "B", "walk"), ("", "run"), {0: "walk", 1: ""}, ()),
        (("", "", ""), ("walk", "run"), {}, ()),
        (("run", "walk", "run"), ("walk", "run"), {0: "run", 1: "walk"}, ()),
        # the last span was taken from another label, whose name stayed behind
        (("A", "B", "C"), (), {0: "", 1: ""}, ()),
        (("A", "B", "B"), (), {0: "", 1: ""}, ()),
        (("walk", "run", "run"), ("walk", "run"), {0: "walk", 1: "run"}, ()),
        (
            ("A", "C", "A"),
            (),
            {0: "", 1: ""},
            ("line 3: the name 'C' is that of another label, not of label B",),
        ),
        # somebody renamed one span of two
        (
            ("walk", "B", "A"),
            (),
            {0: "walk", 1: ""},
            ("line 2: the name 'walk' is for all spans of label A",),
        ),
        (
            ("walk", "B", "stroll"),
            ("walk",),
            {0: "stroll", 1: ""},
            ("line 4: the name 'stroll' is for all spans of label A",),
        ),
        (("OK", "2", "OK"), (), {0: "OK", 1: "2"}, ()),
    ],
)
def test_labels_get_the_names_that_the_table_gives_them(tmp_path, stated, before, names, notes):
    corrections = read(tmp_path, NAMED.format(*stated), names=before)
    assert spans_of(corrections) == ([0, 4, 7], [0, 1, 0])
    assert corrections.names == names
    assert corrections.notes == tuple(f"corrected table, {note}" for note in notes)


def test_one_label_with_two_new_names_is_refused(tmp_path):
    words = "label A is called 'walk' in line 2, but 'run' in line 4: give one of them another label"
    with pytest.raises(ValueError, match=words):
        read(tmp_path, NAMED.format("walk", "B", "run"))


def test_dates_are_no_obstacle_and_those_changed_in_vain_are_noted(tmp_path):
    instants = np.datetime64("2024-03-31T00:30:00") + np.arange(10) * np.timedelta64(900, "s")
    dates = Dates(instants.astype("M8[ns]"), "Europe/Berlin")  # where clocks change at 01:00 UTC
    recording = walk(dates.seconds, dates)
    spans = make_spans(np.repeat([0, 1], 5), np.array([5]), recording.times)
    write_segments(tmp_path / "ours.csv", spans, dates)
    ours = (tmp_path / "ours.csv").read_text()
    assert "2024-03-31T03:45:00+02:00" in ours
    assert read(tmp_path, ours, recording=recording).notes == ()
    spreadsheet = ours.replace("2024-03-31T03:45:00+02:00", "31.03.2024 03:45")
    assert read(tmp_path, spreadsheet, recording=recording).notes == ()
    changed = read(
        tmp_path, ours.replace("\n5,10,2024-03-31T03:45", "\n5,10,2024-03-31T03:46"), recording=recording
    )
    assert changed.notes == (
        "corrected table, line 3: times were computed again from start and end, which decide",
    )


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
