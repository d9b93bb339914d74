from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from seqspan._core import threads
from seqspan._core.threads import Team, count_threads


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """BLAS has two threads, whatever the machine and the number of workers."""
    before = min(blas_threads())
    limit_blas(2)
    yield
    limit_blas(before)


def limit_blas(n_threads: int) -> None:
    """Set the number of threads from a thread that ends: one that lives on would keep others from it."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(threadpool_limits, n_threads, user_api="blas").result()


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_every_block_is_worked_off_once(n_jobs):
    with Team(n_jobs) as team:
        shares = team.map(list, 13)
    assert sorted(block for share in shares for block in share) == list(range(13))
    assert len(shares) == n_jobs


def test_shares_run_in_different_threads():
    meeting = threading.Barrier(2, timeout=600)  # passes only if both shares run at the same time
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


def _threads_of(team: Team) -> set[int]:
    meeting = threading.Barrier(team.n_jobs, timeout=600)
    return set(team.map(lambda share: (meeting.wait(), threading.get_ident())[1], team.n_jobs))


def test_one_team_after_the_other_has_the_same_threads():
    """A fit with landmarks has hundreds of teams; each would start its threads anew."""
    found = []
    for uses_blas in (True, False, True):
        with Team(3, uses_blas=uses_blas) as team:
            found.append(_threads_of(team))
    assert found[0] == found[1] == found[2]


def test_teams_at_the_same_time_share_no_threads_but_the_callers():
    with Team(3) as outer, Team(3) as inner:
        assert _threads_of(outer) & _threads_of(inner) == {threading.get_ident()}


def test_a_team_inside_the_work_of_a_team_does_not_wait_for_it():
    def work(share: range) -> int:
        with Team(2) as inner:
            return sum(inner.map(len, 10))

    with Team(2) as team:
        assert team.map(work, 2) == [10, 10]


def test_after_an_error_all_shares_have_ended():
    ended = threading.Event()

    def work(share: range) -> None:
        if share.start == 0:
            raise ArithmeticError
        ended.wait(0.2)
        ended.set()

    with Team(2) as team:
        with pytest.raises(ArithmeticError):
            team.map(work, 2)
        assert ended.is_set()


def test_a_forked_process_has_threads_of_its_own():
    with Team(2) as team:
        _threads_of(team)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(_sum_in_a_team).get(timeout=600) == 10


def _sum_in_a_team() -> int:
    with Team(2) as team:
        return sum(team.map(len, 10))


def test_libraries_are_looked_for_again_only_after_an_import(monkeypatch):
    found = []

    class Controller(ThreadpoolController):
        def __init__(self):
            found.append(self)
            super().__init__()

    monkeypatch.setattr(threads, "ThreadpoolController", Controller)
    blas = threads._SingleThreadedBlas()
    with blas:  # it may import what starts its thread
        pass
    with blas:
        before = len(found)
    for _ in range(3):
        with blas:
            assert len(found) == before
    monkeypatch.setitem(sys.modules, "a_module_of_this_test", None)
    with blas:
        assert len(found) == before + 1
