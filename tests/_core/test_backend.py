"""Where arrays live, and what is said without a GPU; a stand-in for CuPy where its presence matters."""

from __future__ import annotations

import subprocess
import sys
import types

import numpy as np
import pytest

from seqspan import OSC, SpatSC
from seqspan._core import backend
from seqspan.datasets import make_subspaces

ROWS = make_subspaces(2, 2, 10, 6, rng=0)[0].T

WITHOUT_NEEDLESS_IMPORTS = """
import sys
import numpy as np
import seqspan.solvers.gpu.device_functions, seqspan.solvers.gpu.products
from seqspan import OSC
from seqspan.cuts import normalised_cut
from seqspan.solvers.gpu.solver import solve_with
from seqspan.models import Osc
from seqspan.cuts.spectral.n_subspaces import estimate_n_subspaces
from seqspan.pipeline import cut, represent
from seqspan.solvers import Stopping
from tests.solvers.gpu.plain_device_functions import PlainDeviceFunctions
from tests.problems import two_subspaces

X = two_subspaces((6, 40), seed=0)
solution = solve_with(PlainDeviceFunctions(), Osc(0.1, 1.0), X, Stopping(0.1, 50))
W = abs(solution.Z) + abs(solution.Z.T)
normalised_cut(W, estimate_n_subspaces(W), rng=0)
sys.modules["cupy"] = None  # as if it were not installed
try:
    OSC(device="cuda").fit(np.eye(5))
except ImportError as error:
    assert "seqspan[gpu]" in str(error)
else:
    raise SystemExit("no error without CuPy")
print(sorted({"numba", "llvmlite", "av", "polars", "matplotlib"} & set(sys.modules)))
"""


class OnDevice(np.ndarray):
    """An array that says it is CuPy's."""

    def get(self):
        return np.asarray(self)


OnDevice.__module__ = "cupy"


@pytest.fixture
def no_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)


def stand_in(monkeypatch, *, available, free=0, pooled=0):
    cupy = types.ModuleType("cupy")
    cupy.__version__ = "0"
    cupy.cuda = types.SimpleNamespace(
        is_available=lambda: available, runtime=types.SimpleNamespace(memGetInfo=lambda: (free, 0))
    )
    cupy.get_default_memory_pool = lambda: types.SimpleNamespace(free_bytes=lambda: pooled)
    cupy.isfinite = np.isfinite
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    return cupy


@pytest.mark.parametrize("estimator", [OSC, SpatSC])
def test_without_cupy_the_error_names_the_extra(estimator, no_cupy):
    with pytest.raises(ImportError, match=r"pip install 'seqspan\[gpu\]'"):
        estimator(device="cuda").fit(ROWS)


@pytest.mark.parametrize("estimator", [OSC, SpatSC])
def test_without_a_gpu_the_error_says_so(estimator, monkeypatch):
    stand_in(monkeypatch, available=False)
    with pytest.raises(RuntimeError, match="needs an NVIDIA GPU"):
        estimator(device="cuda").fit(ROWS)


def test_another_device_is_refused():
    with pytest.raises(ValueError, match="device must be one of 'cpu', 'cuda'; got 'tpu'"):
        OSC(device="tpu").fit(ROWS)


def test_samples_on_a_gpu_need_that_device(monkeypatch):
    stand_in(monkeypatch, available=True)
    with pytest.raises(ValueError, match="CuPy array, which needs device='cuda'"):
        OSC().fit(ROWS.view(OnDevice))


def test_arrays_tell_where_they_live(monkeypatch):
    cupy = stand_in(monkeypatch, available=True)
    there = np.ones(3).view(OnDevice)
    assert backend.is_on_gpu(there)
    assert not backend.is_on_gpu(np.ones(3))
    assert backend.namespace(there) is cupy
    assert backend.namespace(np.ones(3)) is np
    assert type(backend.to_host(there)) is np.ndarray


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((2, 4)), "at least 3 samples"),
        (np.ones(5), "at least 3 samples"),
        (np.ones((4, 2), dtype=complex), "real numbers"),
        (np.array([[1.0, np.nan]] * 4), "NaN or infinity"),
    ],
)
def test_bad_samples_on_a_gpu_are_refused(X, message, monkeypatch):
    stand_in(monkeypatch, available=True)
    with pytest.raises(ValueError, match=message):
        backend.check_device_samples(X.view(OnDevice), 3)


def test_good_samples_on_a_gpu_keep_their_precision(monkeypatch):
    stand_in(monkeypatch, available=True)
    for given, kept in (("f4", "f4"), ("f8", "f8"), ("i4", "f8")):
        assert backend.check_device_samples(np.ones((4, 2), given).view(OnDevice), 3).dtype == kept


def test_memory_of_the_gpu_is_asked_for_first(monkeypatch):
    stand_in(monkeypatch, available=True, free=2**30, pooled=2**30)
    backend.require_device_memory(2**31, "It", "Less.")
    with pytest.raises(MemoryError, match=r"It needs 2.0 GiB of GPU memory; 2.0 GiB are free. Less."):
        backend.require_device_memory(2**31 + 1, "It", "Less.")


def test_the_way_through_a_gpu_imports_nothing_that_it_does_not_need():
    command = [sys.executable, "-c", WITHOUT_NEEDLESS_IMPORTS]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.stdout.strip() == "[]", answer.stdout + answer.stderr
