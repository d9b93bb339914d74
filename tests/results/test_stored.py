"""Result folders that somebody has made by hand are read, or refused with one plain sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqspan
from seqspan import Segmentation
from seqspan.cli.export import export_result
from seqspan.exports.selection import Selection
from seqspan.results.documents import DOCUMENT, seal
from seqspan.results.fingerprints import hash_file
from seqspan.results.folder import LABELS, SEGMENTS
from seqspan.results.stored import read_tables

ROWS = np.repeat([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], 20, axis=0)
ROWS = ROWS + 0.1 * np.random.default_rng(0).standard_normal(ROWS.shape)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    seqspan.segment(ROWS, n_spans=2).save(tmp_path / "hand.seqspan")
    return tmp_path / "hand.seqspan"


def forge(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what result.json says, with checksums that fit."""
    document = json.loads((folder / DOCUMENT).read_text())
    document["files"] = {name: hash_file(folder / name) for name in document["files"]}
    change(document)
    (folder / DOCUMENT).write_text(json.dumps(seal(document)))


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.pop("input"),
        lambda document: document.update(input=[]),
        lambda document: document["input"].pop("kind"),
        lambda document: document.pop("cut"),
        lambda document: document.update(cut=5),
        lambda document: document.pop("gap"),
        lambda document: document.update(gap=[]),
        lambda document: document.update(gap="near"),
        lambda document: document.pop("seconds"),
        lambda document: document.update(label_names=5),
        lambda document: document.update(label_names=[["walk"]]),
        lambda document: document["files"].update({"a\0b": "00"}),
        lambda document: document["input"].update(recordings=[{"n_samples": 7, "path": "walk.csv"}] * 2),
    ],
)
def test_a_document_without_what_it_should_say_is_refused(folder, change):
    forge(folder, change)
    with pytest.raises(ValueError, match=r"hand\.seqspan: "):
        Segmentation.load(folder)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        (LABELS, lambda text: ""),
        (LABELS, lambda text: text.splitlines()[0] + "\n"),
        (LABELS, lambda text: text + "7\n"),
        (LABELS, lambda text: text.replace(",0,", ",walk,")),
        (LABELS, lambda text: text.replace(",1,", ",99999999999999999999,")),
        (LABELS, lambda text: text.replace("5,5,", "5,nan,")),
        (SEGMENTS, lambda text: ""),
        (SEGMENTS, lambda text: text.replace("20,40,", "15,40,")),
        (SEGMENTS, lambda text: text.replace("20,40,", "999,40,")),
        (SEGMENTS, lambda text: text + text.splitlines()[1] + "\n"),
    ],
)
def test_tables_that_make_no_sense_are_refused(folder, name, change):
    (folder / name).write_text(change((folder / name).read_text()))
    forge(folder, lambda document: None)
    with pytest.raises(ValueError, match=r"hand\.seqspan: .*not as seqspan writes"):
        Segmentation.load(folder)
    with pytest.raises(ValueError, match=r"hand\.seqspan: "):
        export_result(folder, Selection(("audacity",)))


def test_what_is_wrong_is_said(folder):
    (folder / LABELS).write_text((folder / LABELS).read_text().replace("5,5,", "5,nan,"))
    forge(folder, lambda document: None)
    with pytest.raises(ValueError, match=r"writes them: labels\.csv must have a time for every sample\."):
        Segmentation.load(folder)
    (folder / LABELS).write_text("index,time,row\n0,0,0\n")
    forge(folder, lambda document: None)
    with pytest.raises(ValueError, match=r"writes them: KeyError: 'label'"):
        Segmentation.load(folder)


def test_without_confidence_there_is_none(tmp_path):
    whole = seqspan.segment(ROWS, n_spans=2)
    replace(whole, representation=None, given_confidence=None).save(tmp_path / "apart.seqspan")
    assert Segmentation.load(tmp_path / "apart.seqspan").confidence is None
    whole.save(tmp_path / "whole.seqspan")
    np.testing.assert_allclose(
        Segmentation.load(tmp_path / "whole.seqspan").confidence, whole.confidence, rtol=0.01
    )


def test_without_the_table_of_spans_they_start_where_labels_change(folder):
    document = json.loads((folder / DOCUMENT).read_text())
    whole, labels = (read_tables(folder, document, spans=spans) for spans in (True, False))
    np.testing.assert_array_equal(labels.labels, whole.labels)
    np.testing.assert_array_equal(labels.boundaries, whole.boundaries)
    np.testing.assert_array_equal(labels.recording.times, whole.recording.times)
    assert labels.confidence is None
    assert labels.boundaries.tolist() == [20]


def test_what_somebody_wrote_by_hand_is_read_if_it_makes_sense(folder):
    whole = Segmentation.load(folder)
    forge(folder, lambda document: document.update(seconds={}, label_names=["walk"]))
    np.testing.assert_array_equal(Segmentation.load(folder).labels, whole.labels)
