from __future__ import annotations

import numpy as np

from seqspan._core.spans import make_spans
from seqspan.results import tables as results


def test_the_tables_are_as_documented(tmp_path):
    labels, times = np.array([0, 0, 1]), np.array([0.0, 0.5, 1.0])
    spans = make_spans(labels, np.array([2]), times, np.array([0.75]))
    results.write_segments(tmp_path / "segments.csv", spans)
    results.write_labels(tmp_path / "labels.csv", labels, times)
    lines = (tmp_path / "segments.csv").read_text().splitlines()
    assert lines == ["start,end,start_time,end_time,label,confidence", "0,2,0,1,0,", "2,3,1,1.5,1,0.75"]
    assert (tmp_path / "labels.csv").read_text() == "index,time,label\n0,0,0\n1,0.5,0\n2,1,1\n"
