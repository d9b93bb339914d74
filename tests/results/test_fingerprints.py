from __future__ import annotations

import hashlib
import tracemalloc
from pathlib import Path

import numpy as np

from seqspan.results import fingerprints
from seqspan.results.fingerprints import hash_code, hash_file, hash_files, hash_problem, hash_values


def test_the_hash_of_files_tells_names_and_contents(tmp_path):
    for name, content in {"a": "x", "b": "x", "c": "y"}.items():
        (tmp_path / name).write_text(content)
    a, b, c = (tmp_path / name for name in "abc")
    assert len({hash_files(files) for files in ([a], [c], [a, b], [b, a], [a, c], [a, b, c])}) == 6
    assert hash_files([a]) == hash_files([b]) == hash_file(a) == hashlib.sha256(b"x").hexdigest()


def test_a_file_is_not_held_at_once(tmp_path):
    size = 8 * fingerprints.BLOCK_BYTES + 5
    (tmp_path / "film").write_bytes(b"x" * size)
    tracemalloc.start()
    try:
        found = hash_file(tmp_path / "film")
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == hashlib.sha256(b"x" * size).hexdigest()
    assert taken < size / 2


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


def test_the_hash_of_values_tells_values_and_not_the_order_of_keys():
    assert hash_values({"a": 1, "b": 2}) == hash_values({"b": 2, "a": 1})
    values = [(1,), (1, 2), ([1, 2],), ("1",), (None,), ({"a": 1},), (Path("a"),), ("\udcff",), ("é",)]
    assert len({hash_values(*each) for each in values}) == len(values)


def test_the_hash_of_a_problem_tells_samples_their_shape_and_type_and_settings():
    X = np.arange(6.0).reshape(2, 3)
    settings = {"lam1": 0.1, "solver": "fast"}
    others = [X.T, X.reshape(3, 2), X + 1, X.astype(np.float32), X.astype(np.int64).view(np.float64)]
    others.append(X.view(np.int64))  # the same bytes
    hashes = {hash_problem(each, settings) for each in (X, *others)} | {hash_problem(X, {"lam1": 0.2})}
    assert len(hashes) == 8
    assert hash_problem(np.asfortranarray(X), settings) == hash_problem(X, dict(reversed(settings.items())))
