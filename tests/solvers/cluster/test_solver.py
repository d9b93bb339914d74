"""The row-split solver on real processes: a scheduler and three workers, one of which may be killed."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.cluster import Meter, solve_here, started_cluster
from sklearn.exceptions import ConvergenceWarning
from tests.problems import two_subspaces

from seqspan.models import Lrr, Osc, SpatSc
from seqspan.solvers import Stopping
from seqspan.solvers.cluster.solver import solve_on_cluster, traffic_per_iteration

MODELS = [Osc(0.1, 0.5), SpatSc(0.1, 0.03)]
EVERY_MODEL = pytest.mark.parametrize("model", MODELS, ids=["osc", "spatsc"])
TOL = 1e-4
# the same steps from the same start: only the order of sums differs, and 1e-6 is what is promised
SAME = {"rel": 1e-9}


@pytest.fixture(scope="module")
def cluster():
    with started_cluster(3) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def three_workers(request):
    """Put back what a test has killed."""
    yield
    if "cluster" in request.fixturenames:
        cluster = request.getfixturevalue("cluster")
        while len(cluster.workers) < 3:
            cluster.add_worker()
        cluster.wait_for(3)


def problem(model):
    """OSC with a dictionary, SpatSC with the samples as atoms and their diagonal fixed."""
    X = two_subspaces((9, 150), seed=4, noise=0.3)
    return X, None if model.zero_diagonal else X[:, 3:140:5]


@pytest.mark.parametrize(
    "model", [*MODELS, *(replace(model, joins=(40, 97)) for model in MODELS)],
    ids=["osc", "spatsc", "osc_joined", "spatsc_joined"],
)  # fmt: skip
def test_three_workers_do_what_one_process_does(cluster, model):
    X, D = problem(model)
    stopping = Stopping(1e-3 if model.zero_diagonal else TOL, 5000)  # 140 iterations of SpatSC instead of 445
    alone = solve_here(model, X, D, stopping)
    together = solve_on_cluster(model, X, cluster.address, dictionary=D, stopping=stopping)
    assert together.n_iter == alone.n_iter
    assert together.objective == pytest.approx(alone.objective, **SAME)
    # bands of the bound follow the last gap, and one of the two was certified before its first step
    assert together.gap == pytest.approx(alone.gap, rel=1e-2)
    np.testing.assert_allclose(together.Z, alone.Z, atol=1e-9)


@EVERY_MODEL
def test_samples_may_have_any_size(cluster, model):
    X, D = problem(model)
    tol, factor = 1e-2, 2.0**300  # at a tight gap this takes long, and tells no more
    stopping = Stopping(tol, 5000)
    large = replace(model, lam1=model.lam1 * factor**2, lam2=model.lam2 * factor**2)
    atoms = None if D is None else factor * D
    plain = solve_on_cluster(model, X, cluster.address, dictionary=D, stopping=stopping)
    scaled = solve_on_cluster(large, factor * X, cluster.address, dictionary=atoms, stopping=stopping)
    assert scaled.objective == pytest.approx(factor**2 * plain.objective, rel=3 * tol)
    assert scaled.gap <= tol


@EVERY_MODEL
def test_bytes_on_the_sockets_are_those_of_the_formula(cluster, model):
    X = two_subspaces((20, 1500), seed=1, noise=0.3)
    D = None if model.zero_diagonal else X[:, ::30]
    meter = Meter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # traffic is the same on every way
        solve_on_cluster(
            model,
            X,
            cluster.address,
            dictionary=D,
            stopping=Stopping(1e-12, 25, callback=meter),
            gather=False,
        )
    formula = traffic_per_iteration(1500, 20, 8, 3, model)
    assert meter.per_iteration()[0] == pytest.approx(formula, rel=0.2)


@pytest.mark.parametrize("kept", [True, False], ids=["checkpoint", "from zero"])
def test_a_worker_killed_in_the_middle_costs_nothing_but_time(cluster, tmp_path, kept):
    X, D = problem(MODELS[0])
    alone = solve_here(MODELS[0], X, D, Stopping(TOL, 5000))
    assert alone.n_iter > 30  # or the worker is killed too late
    killed = []

    def kill_once(progress):
        if progress.iteration == 30 and not killed:
            killed.append(progress)
            cluster.kill_a_worker()

    together = solve_on_cluster(
        MODELS[0], X, cluster.address, dictionary=D, checkpoint=tmp_path / "kept" if kept else None,
        stopping=Stopping(TOL, 5000, callback=kill_once),
    )  # fmt: skip
    assert killed
    assert together.n_iter == alone.n_iter
    assert together.objective == pytest.approx(alone.objective, **SAME)
    np.testing.assert_allclose(together.Z, alone.Z, atol=1e-9)


def test_a_second_call_goes_on_where_the_first_was_left(cluster, tmp_path):
    X, D = problem(MODELS[0])
    alone = solve_here(MODELS[0], X, D, Stopping(TOL, 5000))
    with pytest.warns(ConvergenceWarning):
        solve_on_cluster(
            MODELS[0], X, cluster.address, dictionary=D, checkpoint=tmp_path, stopping=Stopping(TOL, 30)
        )
    again = solve_on_cluster(
        MODELS[0], X, cluster.address, dictionary=D, checkpoint=tmp_path, stopping=Stopping(TOL, 5000)
    )
    assert again.state.iteration == again.n_iter + 25
    assert again.objective == pytest.approx(alone.objective, rel=TOL)
    other = solve_on_cluster(  # of another problem nothing is taken over
        MODELS[0], X[::-1].copy(), cluster.address, dictionary=D, checkpoint=tmp_path, stopping=Stopping(TOL)
    )
    assert other.state.iteration == other.n_iter


def test_what_is_wrong_is_said():
    X = two_subspaces((5, 12), seed=0)
    with pytest.raises(ValueError, match="minimises Osc and SpatSc; got Lrr"):
        solve_on_cluster(Lrr(0.1), X, "tcp://127.0.0.1:1")
    with pytest.raises(ValueError, match="needs the samples as atoms"):
        solve_on_cluster(SpatSc(0.1, 0.1), X, "tcp://127.0.0.1:1", dictionary=X[:, :3])
