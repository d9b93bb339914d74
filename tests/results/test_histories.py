"""Random histories of result folders; ``python -m benchmarks.soak folders`` tries thousands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.soak.folders import Histories, soak_folders

from seqspan._core.spans import Division
from seqspan.exports.selection import Selection


def test_nothing_of_the_user_is_lost_in_any_history():
    soak_folders(40)


BREAKAGES = {
    "edited files are replaced": ("results.publish._edited", lambda earlier: []),
    "files of others are replaced": ("results.publish.check_free", lambda folder, names: None),
    "a kill makes our files unknown": ("results.documents.JOURNAL", ".seqspan-elsewhere.json"),
    "earlier exports are dropped": ("cli.segment.Earlier.present", []),
    "a folder goes from one input to another": ("cli.segment.check_owner", lambda folder, source: None),
    "two runs at once": ("results.lock._lock", lambda file: True),
    "exports are of other spans": ("cli.segment.Selection.write", lambda self, *given: {}),
}


@pytest.mark.parametrize("name", BREAKAGES)
def test_histories_find_what_is_wrong(monkeypatch, name):
    target, broken = BREAKAGES[name]
    monkeypatch.setattr(f"seqspan.{target}", broken)
    with pytest.raises((AssertionError, OSError)):
        soak_folders(1000, shorten=False)  # it stops at the first; a lost journal takes about 60


def test_an_export_whose_result_was_deleted_is_left_alone():
    """The history knows that a new result in the same folder does not make the old export ours again."""
    one_span = Division(np.array([], dtype=np.intp), np.array([0]))
    state = Histories()
    try:
        state.write_inputs()
        state.run(source="walk.csv", folder=None, division=one_span, asked=Selection(("audacity",)))
        export = Path("walk.seqspan", "spans.labels.txt")
        before = export.read_bytes()
        for _ in range(4):  # labels.csv, report.html, result.json and segments.csv
            state.delete_a_file(folder="walk.seqspan", place=0)
        assert [path for path in export.parent.iterdir() if path.name[0] != "."] == [export]
        state.save_from_python(source="other/walk.csv", folder="walk.seqspan", division=one_span)
        state.run(source="other/walk.csv", folder=None, division=one_span, asked=Selection(("audacity",)))
        assert export.read_bytes() == before
    finally:
        state.teardown()


def test_selections_are_compared_by_what_they_hold():
    assert Selection(("edl",)) | Selection(("edl",), split=True) == Selection(("edl",), split=True)
