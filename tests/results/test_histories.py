"""Random histories of result folders; ``python -m benchmarks.soak folders`` tries thousands."""

from __future__ import annotations

import pytest
from benchmarks.soak.folders import soak_folders

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


def test_selections_are_compared_by_what_they_hold():
    assert Selection(("edl",)) | Selection(("edl",), split=True) == Selection(("edl",), split=True)
