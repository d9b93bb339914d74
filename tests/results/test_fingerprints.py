from __future__ import annotations

from seqspan.results import fingerprints as results


def test_the_hash_of_a_folder_tells_names_and_contents(tmp_path):
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    (tmp_path / "one" / "a").write_text("x")
    (tmp_path / "two" / "b").write_text("x")
    (tmp_path / "three" / "a").write_text("y")
    assert len({results.hash_file(tmp_path / name) for name in ("one", "two", "three")}) == 3
