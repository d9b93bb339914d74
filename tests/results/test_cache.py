"""Solutions kept between runs come back for the same problem and the same version, or not at all."""

from __future__ import annotations

import numpy as np
import pytest

from seqspan._core.solution import Progress, Solution
from seqspan.results.cache import CACHE, SolutionCache


def make_solution(density: float = 0.5) -> Solution:
    rng = np.random.default_rng(3)
    Z = np.where(rng.random((30, 30)) < density, rng.standard_normal((30, 30)), 0).astype(np.float32)
    history = [Progress(5, 3.0, 0.1, 0.2)]
    return Solution(Z, 2.5, 0.01, 7, converged=False, state="large", history=history, message="stopped early")


@pytest.mark.parametrize("density", [0.0, 0.1, 0.9])
def test_a_solution_comes_back_for_its_own_key_alone(tmp_path, density):
    cache, solution = SolutionCache(tmp_path), make_solution(density)
    cache.save("key", solution)
    back = cache.load("key")
    np.testing.assert_array_equal(back.Z, solution.Z)
    assert back.Z.dtype == np.float32
    for name in ("objective", "gap", "n_iter", "converged", "history", "message"):
        assert getattr(back, name) == getattr(solution, name)
    assert back.state is None
    assert cache.load("another") is None


def test_folders_on_the_way_are_made(tmp_path):
    cache = SolutionCache(tmp_path / "walks" / "first.seqspan")
    cache.save("key", make_solution())
    assert [path.name for path in cache.folder.iterdir()] == [CACHE]


def test_what_another_version_solved_is_not_used(tmp_path):
    SolutionCache(tmp_path, "1.0").save("key", make_solution())
    assert SolutionCache(tmp_path, "1.1").load("key") is None
    assert SolutionCache(tmp_path, "1.0").load("key") is not None


def test_zeros_take_no_room(tmp_path):
    sizes = []
    for density in (0.05, 0.9):
        SolutionCache(tmp_path).save("key", make_solution(density))
        sizes.append((tmp_path / CACHE).stat().st_size)
    assert sizes[0] < sizes[1] / 2


@pytest.mark.parametrize("damage", [lambda data: data[:-40], lambda data: b"", lambda data: b"PK" + data])
def test_a_damaged_file_is_no_solution(tmp_path, damage):
    cache = SolutionCache(tmp_path)
    cache.save("key", make_solution())
    path = tmp_path / CACHE
    path.write_bytes(damage(path.read_bytes()))
    assert cache.load("key") is None


def test_a_cleared_cache_is_empty_and_can_be_cleared_again(tmp_path):
    cache = SolutionCache(tmp_path)
    cache.save("key", make_solution())
    cache.clear()
    cache.clear()
    assert cache.load("key") is None
