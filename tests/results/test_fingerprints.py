from __future__ import annotations

import hashlib

from seqspan.results import fingerprints
from seqspan.results.fingerprints import hash_code, hash_file, hash_files


def test_the_hash_of_files_tells_names_and_contents(tmp_path):
    for name, content in {"a": "x", "b": "x", "c": "y"}.items():
        (tmp_path / name).write_text(content)
    a, b, c = (tmp_path / name for name in "abc")
    assert len({hash_files(files) for files in ([a], [c], [a, b], [b, a], [a, c], [a, b, c])}) == 6
    assert hash_files([a]) == hash_files([b]) == hash_file(a) == hashlib.sha256(b"x").hexdigest()


def test_the_hash_of_the_code_tells_every_change(tmp_path, monkeypatch):
    def hash_now():
        hash_code.cache_clear()
        return hash_code()

    monkeypatch.setattr(fingerprints, "PACKAGE", tmp_path)
    (tmp_path / "cuts").mkdir()
    (tmp_path / "cuts" / "cost.py").write_text("PENALTY = 1")
    seen = {hash_now()}
    (tmp_path / "cuts" / "cost.py").write_text("PENALTY = 2")
    seen.add(hash_now())
    (tmp_path / "cuts" / "cost.py").rename(tmp_path / "cost.py")
    seen.add(hash_now())
    assert len(seen) == 3
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "cost.pyc").write_text("compiled")
    assert hash_now() in seen
    hash_code.cache_clear()
