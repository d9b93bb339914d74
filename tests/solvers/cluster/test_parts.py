"""Parts of the atoms without a cluster: what they compute, and what happens where one of them is lost."""

from __future__ import annotations

import sys
import time
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.cluster import solve_here
from tests.problems import two_subspaces

from seqspan._core.threads import Team
from seqspan.models import Osc, SpatSc
from seqspan.solvers import Stopping
from seqspan.solvers.cluster import parts as parts_module
from seqspan.solvers.cluster.parts import LostWorker, Parts, connect
from seqspan.solvers.cluster.rows import AtomRows
from seqspan.solvers.cluster.solver import _algorithm, _Coordinator
from seqspan.solvers.fast.reduced import reduce
from seqspan.solvers.fast.sweeps import Sweeps
from seqspan.solvers.loop import run

EDGES = [(0, 20), (20, 37)]
MODELS = [Osc(0.1, 0.5), SpatSc(0.1, 0.03)]
EVERY_MODEL = pytest.mark.parametrize("model", MODELS, ids=["osc", "spatsc"])


@EVERY_MODEL
def test_parts_add_up_to_the_whole_and_come_back_from_their_files(model, tmp_path):
    data = reduce(two_subspaces((6, 37), seed=2, noise=0.2), float)
    with Team(1) as team:
        whole = Sweeps(model, data, team)
        state = whole.zero_state(2.0, 5.0)
        split = [AtomRows(model, 37, first, 1) for first, _ in EDGES]
        for part, (first, last) in zip(split, EDGES, strict=True):
            part.begin(data.Q[first:last], data.sigma, None)
        correction = np.random.default_rng(0).normal(0, 0.1, (37, data.sigma.size))
        for _ in range(3):
            shared = state.norms, state.r1, state.r2
            projected = whole.project_right_side(state)
            np.testing.assert_allclose(sum(part.project(*shared) for part in split), projected, atol=1e-12)
            state.norms, residuals = whole.update(state, correction, True)
            found = [part.update(correction, True) for part in split]
            np.testing.assert_allclose(sum(rest for _, rest in found), residuals, rtol=1e-10)
        shared = state.norms, state.r1, state.r2
        state.norms = whole.shrink_multipliers(state, 0.25, 0.5)
        norms = sum(part.shrink_multipliers(*shared, 0.25, 0.5) for part in split)
        np.testing.assert_allclose(norms, np.empty(0) if whole.entrywise else state.norms, rtol=1e-10)
        Z = whole.coefficients(state)
        shared = state.norms, state.r1, state.r2
        for total, parts in zip(
            whole.evaluate(state), zip(*(part.evaluate(*shared) for part in split), strict=True), strict=True
        ):
            np.testing.assert_allclose(sum(parts), total, atol=1e-12)
    assert np.abs(Z).max() > 0.01
    np.testing.assert_allclose(
        np.vstack([part.coefficients(*shared, False) for part in split]), Z, atol=1e-12
    )

    files = [str(tmp_path / f"part{number}.npz") for number in range(2)]
    for part, file in zip(split, files, strict=True):
        part.keep(file)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["part0.npz", "part1.npz"]
    again = [AtomRows(model, 37, first, 1) for first, _ in EDGES]
    kept = [
        part.begin(data.Q[first:last], data.sigma, file)
        for part, (first, last), file in zip(again, EDGES, files, strict=True)
    ]
    np.testing.assert_allclose(sum(kept), norms, rtol=1e-10)
    for part, loaded in zip(split, again, strict=True):  # every digit comes back
        np.testing.assert_array_equal(loaded.coefficients(*shared, False), part.coefficients(*shared, False))


class LocalParts:
    """Parts in this process; some calls end in the loss of a worker, which takes all state along."""

    def __init__(self, model, data, lost):
        self._model, self._data, self._lost = model, data, lost
        self.calls = Counter()

    def __len__(self):
        return len(EDGES)

    def _count(self, method):
        self.calls[method] += 1
        if (method, self.calls[method]) in self._lost:
            self._actors = []
            raise LostWorker("tcp://10.0.0.1")

    def place(self, files, n_parts):
        self._count("place")
        n = len(self._data.Y)
        self._actors = [AtomRows(self._model, n, first, 1) for first, _ in EDGES]
        return np.sum(
            self.call_each("begin", [(self._data.Q[a:b], self._data.sigma, None) for a, b in EDGES]), axis=0
        )

    def call(self, method, *given):
        return self.call_each(method, [given] * len(EDGES))

    def call_each(self, method, given):
        self._count(method)
        return [getattr(actor, method)(*own) for actor, own in zip(self._actors, given, strict=True)]


@pytest.mark.parametrize(
    "lost",
    [
        {("update", 12)},
        {("evaluate", 2)},  # in the middle of a certificate
        {("evaluate", 2), ("place", 2)},  # and again while it is made good
        {("evaluate", 2), ("project", 12)},
        {("coefficients", 1)},  # at the very end
    ],
    ids=lambda lost: str(sorted(lost)),  # sets have no order, and every process has to collect the same
)
def test_whatever_is_lost_the_result_is_the_same(lost):
    model, X = MODELS[0], two_subspaces((6, 37), seed=2, noise=0.2)
    stopping = Stopping(1e-4, 5000)
    data = reduce(X, float)
    parts = LocalParts(model, data, lost)
    with Team(1) as team:
        sweeps = _Coordinator(model, data, team, parts, None, True)
        found = run(_algorithm(sweeps), sweeps.resume(), stopping, warm=False, began=time.perf_counter())
    alone = solve_here(model, X, None, stopping)
    assert parts.calls["place"] == 1 + len(lost)
    assert found.n_iter == alone.n_iter
    assert found.objective == pytest.approx(alone.objective, rel=1e-9)
    np.testing.assert_allclose(found.Z, alone.Z, atol=1e-9)


@pytest.fixture
def stand_in(monkeypatch):
    """Parts of one actor, with a client whose workers a test can choose; it looks often and gives up soon."""
    monkeypatch.setattr(parts_module, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(parts_module, "WORKER_TIMEOUT", 0.05)
    client = SimpleNamespace(
        nthreads=lambda: {"tcp://here": 2},
        scheduler=SimpleNamespace(address="tcp://boss"),
        close=lambda: None,
    )
    monkeypatch.setattr(parts_module, "connect", lambda address: client)
    parts = Parts(MODELS[0], None, "tcp://boss")
    parts._homes = ["tcp://here"]
    return parts, client


def test_an_actor_that_knows_that_its_worker_is_gone(stand_in):
    parts, _ = stand_in

    def evaluate(r1):
        raise RuntimeError("worker tcp://here is gone")

    parts._actors = [SimpleNamespace(evaluate=evaluate)]
    with pytest.raises(LostWorker, match="tcp://here is gone"):
        parts.call("evaluate", 1.0)


def test_a_broken_connection_is_a_lost_worker_and_a_slow_one_is_not(stand_in):
    parts, client = stand_in
    answers = [TimeoutError(), TimeoutError(), 7.0]

    def result(timeout):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    parts._actors = [SimpleNamespace(evaluate=lambda r1: SimpleNamespace(result=result))]
    assert parts.call("evaluate", 1.0) == [7.0]
    answers[:] = [OSError("connection reset")]
    with pytest.raises(LostWorker, match="tcp://here"):
        parts.call("evaluate", 1.0)
    answers[:] = [TimeoutError()]
    client.nthreads = dict
    with pytest.raises(LostWorker, match="tcp://here"):
        parts.call("evaluate", 1.0)


def test_a_cluster_without_workers_is_waited_for_and_then_named(stand_in):
    parts, client = stand_in
    looks = [{}, {}, {"tcp://late": 1}]
    client.nthreads = lambda: looks.pop(0)
    assert parts._wait_for_workers() == {"tcp://late": 1}
    client.nthreads = dict
    with pytest.raises(
        ConnectionError, match="the cluster at tcp://boss has no workers; at least one is needed"
    ):
        parts._wait_for_workers()


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'seqspan\[cluster\]'"):
        connect("tcp://boss")
