"""What a run may replace: files that result.json lists and that nobody has changed, and nothing else."""

from __future__ import annotations

import json

import pytest
from tests.results.test_folder import content, write_version

from seqspan.results.documents import DOCUMENT, FORMAT, Earlier, read_document
from seqspan.results.folder import load_result, staged
from seqspan.results.publish import check_free

OURS = ("a.csv", "sub/b.txt", "spans.labels.txt")


@pytest.fixture
def folder(tmp_path):
    write_version(tmp_path, 1, OURS)
    return tmp_path


def test_a_result_has_a_format_and_lists_what_lies_there(folder):
    document = json.loads((folder / DOCUMENT).read_text())
    assert document["format"] == FORMAT
    assert set(document["files"]) == set(OURS)
    assert document["kept"] == {}
    assert set(content(folder)) == {*OURS, DOCUMENT}


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("a.csv", "a-edited.csv"),
        ("sub/b.txt", "sub/b-edited.txt"),
        ("spans.labels.txt", "spans-edited.labels.txt"),
    ],
)
def test_an_edited_file_is_kept_under_another_name(folder, name, other):
    (folder / name).write_text("mine")
    write_version(folder, 2, OURS)
    assert (folder / other).read_text() == "mine"
    assert (folder / name).read_text() == f"{name} of version 2"
    assert load_result(folder)["kept"] == {name: other}
    (folder / name).write_text("mine again")
    write_version(folder, 3, OURS)
    second = other.replace("-edited", "-edited-2")
    assert (folder / second).read_text() == "mine again"
    assert (folder / other).read_text() == "mine"
    assert load_result(folder)["kept"] == {name: second}


def test_an_edited_file_that_the_new_result_has_no_more_is_kept_too(folder):
    (folder / "sub/b.txt").write_text("mine")
    write_version(folder, 2, ("a.csv",))
    assert content(folder).keys() == {"a.csv", "sub/b-edited.txt", DOCUMENT}
    write_version(folder, 3, OURS)
    assert load_result(folder)["version"] == 3


def test_an_edited_result_json_is_kept(folder):
    document = json.loads((folder / DOCUMENT).read_text())
    mine = json.dumps(document | {"remark": "the best one"})
    (folder / DOCUMENT).write_text(mine)
    write_version(folder, 2, OURS)
    assert (folder / "result-edited.json").read_text() == mine
    assert load_result(folder)["version"] == 2


def test_what_is_no_longer_part_of_the_result_goes_with_its_empty_folder(folder):
    write_version(folder, 2, ("a.csv",))
    assert {path.name for path in folder.iterdir()} == {"a.csv", DOCUMENT}


@pytest.mark.parametrize("name", ["c.csv", "result.json", "sub2"])
def test_a_file_that_is_not_ours_stops_the_run_before_anything_changes(tmp_path, name):
    if name != "result.json":
        write_version(tmp_path, 1, OURS)
    (tmp_path / name).write_text("[1, 2]")
    before = content(tmp_path)
    with pytest.raises(FileExistsError, match=f"{name} is in the way and not from an earlier run"):
        write_version(tmp_path, 2, (*OURS, "c.csv", "sub2/d.txt"))
    assert content(tmp_path) == before


def test_a_folder_in_the_way_stops_the_run(tmp_path):
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(FileExistsError, match=r"a\.csv is in the way"):
        write_version(tmp_path, 1)


def test_a_link_in_place_of_a_file_of_ours_is_the_user_s(folder, tmp_path_factory):
    theirs = tmp_path_factory.mktemp("elsewhere") / "table.csv"
    theirs.write_text((folder / "a.csv").read_text())
    (folder / "a.csv").unlink()
    (folder / "a.csv").symlink_to(theirs)
    write_version(folder, 2, OURS)
    assert (folder / "a-edited.csv").readlink() == theirs
    assert theirs.read_text() == "a.csv of version 1"


def test_a_deleted_file_is_written_again(folder):
    (folder / "a.csv").unlink()
    write_version(folder, 2, OURS)
    assert load_result(folder)["kept"] == {}


def test_an_edit_while_a_run_is_at_work_is_kept(folder):
    with staged(folder) as staging:
        (staging / "a.csv").write_text("new")
        (staging / DOCUMENT).write_text("{}")
        (folder / "a.csv").write_text("mine")
    assert (folder / "a-edited.csv").read_text() == "mine"


class Killed(OSError):
    """What every operation meets from the moment at which the program is killed."""


@pytest.mark.parametrize("moment", range(14))
def test_after_a_kill_our_files_are_still_known_as_ours_and_edits_as_edits(folder, monkeypatch, moment):
    calls = []

    def mortal(real):
        def call(*args, **keywords):
            calls.append(real)
            if len(calls) > moment:
                raise Killed
            return real(*args, **keywords)

        return call

    (folder / "a.csv").write_text("mine")
    with monkeypatch.context() as patched:
        for name in ("replace", "rename", "unlink", "rmdir"):
            patched.setattr(f"os.{name}", mortal(getattr(__import__("os"), name)))
        try:
            write_version(folder, 2, ("a.csv", "new/c.txt", "spans.labels.txt"))
        except Killed:
            assert not (folder / DOCUMENT).exists() or read_document(folder / DOCUMENT)["version"] in (1, 2)
    (folder / "spans.labels.txt").write_text("mine, too")
    write_version(folder, 3, OURS)
    found = content(folder)
    assert load_result(folder)["version"] == 3
    assert found["a.csv"] == "a.csv of version 3"
    assert {"mine", "mine, too"} <= set(found.values())
    assert found.keys() == {*OURS, DOCUMENT, "a-edited.csv", "spans-edited.labels.txt"}


def test_a_newer_format_is_left_alone(folder):
    document = json.loads((folder / DOCUMENT).read_text())
    (folder / DOCUMENT).write_text(json.dumps(document | {"format": FORMAT + 1}))
    before = content(folder)
    with pytest.raises(FileExistsError, match=f"format {FORMAT + 1}, and this version of seqspan knows"):
        write_version(folder, 2)
    assert content(folder) == before
    assert load_result(folder) is None


def test_a_result_of_the_first_format_is_read_and_replaced(folder):
    document = json.loads((folder / DOCUMENT).read_text())
    old = {name: document[name] for name in ("version", "files")}
    (folder / DOCUMENT).write_text(json.dumps(old))
    assert load_result(folder) == old
    write_version(folder, 2, OURS)
    assert load_result(folder)["format"] == FORMAT


def test_carried_files_stay_as_they_are(folder):
    document = load_result(folder)
    (folder / "a.csv").write_text("mine")
    with staged(folder, carried={"a.csv": document["files"]["a.csv"]}) as staging:
        (staging / "c.csv").write_text("new")
        (staging / DOCUMENT).write_text(json.dumps({"version": 2}))
    assert content(folder).keys() == {"a.csv", "c.csv", DOCUMENT}
    assert (folder / "a.csv").read_text() == "mine"
    assert read_document(folder / DOCUMENT)["files"]["a.csv"] == document["files"]["a.csv"]
    write_version(folder, 3)
    assert (folder / "a-edited.csv").read_text() == "mine"


@pytest.mark.parametrize(
    "text", ["", "[]", '{"files": 3}', '{"files": {"a": 1}}', '{"files": {}, "format": "x"}']
)
def test_another_result_json_is_not_ours(tmp_path, text):
    (tmp_path / DOCUMENT).write_text(text)
    assert Earlier.read(tmp_path).documents == ()
    with pytest.raises(FileExistsError, match=r"result\.json is in the way"):
        check_free(tmp_path, [DOCUMENT])
