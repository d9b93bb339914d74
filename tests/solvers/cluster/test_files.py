"""Many inputs on a cluster of real processes: results as without it, lost workers replaced, errors said."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from benchmarks.cluster import started_cluster
from typer.testing import CliRunner

from seqspan.cli import app
from seqspan.datasets import make_subspaces
from seqspan.solvers.cluster.files import map_on_cluster


@pytest.fixture(scope="module")
def cluster():
    with started_cluster(2) as cluster:
        yield cluster


def die_once(marker):
    """Take the worker down at the first attempt; the second finds the marker."""
    if not Path(marker).exists():
        Path(marker).write_text("was here")
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def test_inputs_give_the_results_that_they_give_here(cluster, tmp_path):
    for seed in range(2):
        np.save(tmp_path / f"walk{seed}.npy", make_subspaces(3, 2, 20, 10, rng=seed)[0].T)
    (tmp_path / "broken.npy").write_bytes(b"nothing")
    inputs = sorted(map(str, tmp_path.glob("*.npy")))
    here = CliRunner().invoke(app, ["segment", *inputs, "--out", str(tmp_path / "here")])
    there = CliRunner().invoke(
        app, ["segment", *inputs, "--out", str(tmp_path / "there"), "--cluster", cluster.address]
    )
    assert here.exit_code == there.exit_code == 1
    assert "broken.npy" in there.output
    for name in ("walk0", "walk1"):
        files = [tmp_path / place / name / "labels.csv" for place in ("here", "there")]
        assert files[0].read_text() == files[1].read_text()
        assert (tmp_path / "there" / name / "report.html").exists()


def test_a_lost_worker_is_replaced_by_another(cluster, tmp_path):
    marker = str(tmp_path / "marker")
    found = list(map_on_cluster(die_once, [marker], cluster.address, lambda item, error: "given up"))
    assert found == ["done"]


def test_an_address_where_nobody_answers_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("seqspan.solvers.cluster.parts.CONNECT_SECONDS", 0.5)
    np.save(tmp_path / "walk.npy", make_subspaces(3, 2, 20, 10, rng=0)[0].T)
    result = CliRunner().invoke(
        app, ["segment", str(tmp_path / "walk.npy"), "--cluster", "tcp://127.0.0.1:9"]
    )
    assert result.exit_code == 1
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in result.output
