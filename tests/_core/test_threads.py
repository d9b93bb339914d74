from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import threadpool_info

from seqspan._core.threads import Team, count_threads


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_every_block_is_worked_off_once(n_jobs):
    with Team(n_jobs) as team:
        shares = team.map(list, 13)
    assert sorted(block for share in shares for block in share) == list(range(13))
    assert len(shares) == n_jobs


def test_shares_run_in_different_threads():
    meeting = threading.Barrier(2, timeout=10)  # passes only if both shares run at the same time
    with Team(2) as team:
        names = team.map(lambda share: (meeting.wait(), threading.current_thread().name)[1], 2)
    assert len(set(names)) == 2


def test_errors_reach_the_caller():
    def fail(share: range) -> None:
        raise ArithmeticError(f"share {share.start}")

    with Team(2) as team, pytest.raises(ArithmeticError):
        team.map(fail, 4)


def test_blas_is_single_threaded_until_the_last_of_several_teams_ends():
    before = blas_threads()
    first, second = Team(1), Team(1)
    first.__enter__()
    second.__enter__()
    assert blas_threads() == {1}
    first.__exit__()
    assert blas_threads() == {1}
    second.__exit__()
    assert blas_threads() == before


def test_blas_is_left_alone_by_a_team_that_does_not_use_it():
    before = blas_threads()
    with Team(2, uses_blas=False) as team:
        assert blas_threads() == before
        assert sorted(block for share in team.map(list, 5) for block in share) == list(range(5))
        with Team(1):
            assert blas_threads() == {1}
    assert blas_threads() == before


def test_concurrent_teams_restore_blas():
    """Whichever thread leaves last: a limit may be lifted only by the thread that set it."""

    def work(_: int) -> set[int]:
        with Team(1) as team:
            team.map(list, 3)
            return blas_threads()

    before = blas_threads()
    with ThreadPoolExecutor(8) as pool:
        inside = set().union(*pool.map(work, range(64)))
    assert inside == {1}
    assert blas_threads() == before


def test_count_threads_follow_the_environment(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert count_threads() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "nonsense")
    assert count_threads() >= 1
