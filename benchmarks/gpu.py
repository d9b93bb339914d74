"""OSC on an NVIDIA GPU: time from samples to labels, time per iteration compared with the bandwidth.

    python -m benchmarks.gpu
    python -m benchmarks.gpu --compare 9842 --sizes 1000 2000 4000 9842 20000 40000
    python -m benchmarks.gpu --sizes --floors 9842 --ordered 9842 40000 --landmarks 1000000

62 angles in float32, certified gap of 1e-2, number of subspaces estimated. Times are medians of warm runs,
from a NumPy array of samples to NumPy labels. The CPU runs the same fit in a separate process that is limited
to two cores.

--ordered and --landmarks fit with weights and all numbers found by the data, and cut in the order of time.
"Second fit" is that of the process, "boundaries" compares with the cut of the same coefficients on the host,
and "within 2" is the share of boundaries of a fit on the CPU (all cores) that the GPU's fit has, too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.common import describe_machine, motion_problem, print_table
from seqspan import OSC
from seqspan._core.backend import require_cupy
from seqspan.cuts import make_cutter
from seqspan.models import Osc
from seqspan.solvers.fast.solver import CHECK_EVERY
from seqspan.solvers.fast.steps import advance
from seqspan.solvers.gpu.device_functions import device_functions_for
from seqspan.solvers.gpu.solver import reduce_on_device
from seqspan.solvers.gpu.sweeps import Sweeps

FLOOR_ARRAYS = 6  # two passes read V and U, and the second writes them, as in benchmarks/iteration_floor.py
MAX_REPEATED = 200_000  # samples up to which fits with the ordered cut are repeated, and cut on the host


def samples(n: int) -> np.ndarray:
    """Return the rows of a smooth recording."""
    return np.ascontiguousarray(motion_problem(n).T.astype(np.float32))


def milliseconds(work: Callable[[], object], repeats: int) -> float:
    """Return the median time of some work on the device, by the device's clock."""
    cupy = require_cupy()
    times = []
    for _ in range(repeats + 3):  # the first ones warm up
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return float(np.median(times[3:]))


def fit_on_gpu(X: np.ndarray, repeats: int) -> tuple[float, int, OSC]:
    """Return median seconds from host array to labels, peak GPU memory in bytes, and the last fit."""
    cupy = require_cupy()
    pool = cupy.get_default_memory_pool()
    OSC(device="cuda", random_state=0).fit(X)  # compile, and load libraries
    pool.free_all_blocks()
    seconds, peak = [], 0
    for _ in range(repeats):
        began = time.perf_counter()
        fit = OSC(device="cuda", random_state=0).fit(X)
        seconds.append(time.perf_counter() - began)
        peak = max(peak, pool.total_bytes())
    return float(np.median(seconds)), peak, fit


def fit_on_two_cores(n: int, result: str) -> None:
    """Run the same fit on the CPU; called in a separate process."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    OSC(n_jobs=2, random_state=0).fit(samples(600))  # compile
    X = samples(n)
    began = time.perf_counter()
    fit = OSC(n_jobs=2, random_state=0).fit(X)
    row = {"seconds": time.perf_counter() - began, "iterations": fit.n_iter_, "objective": fit.objective_}
    np.save(result, fit.labels_)
    print(json.dumps(row | {"gap": fit.dual_gap_, "subspaces": fit.n_subspaces_}))


def compare(n: int) -> None:
    """Fit on the GPU and on two cores, and compare."""
    seconds, _, fit = fit_on_gpu(samples(n), repeats=7)
    name = "two_cores_labels.npy"
    command = [sys.executable, "-m", "benchmarks.gpu", "--two-cores", str(n), "--result", name]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "2")
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | threads)
    other = json.loads(answer.stdout.splitlines()[-1])
    agreement = float(np.mean(np.load(name) == fit.labels_))
    os.remove(name)
    here = {"on": "GPU", "seconds": seconds, "iterations": fit.n_iter_, "objective": fit.objective_}
    rows = [here | {"gap": fit.dual_gap_, "subspaces": fit.n_subspaces_}, {"on": "two cores"} | other]
    print(f"From {n} samples on the host to labels:")
    print_table(rows)
    print(
        f"{other['seconds'] / seconds:.0f} times faster; {agreement:.1%} of the labels agree.\n", flush=True
    )


def iteration_floor(n: int) -> dict[str, Any]:
    """Compare an iteration, with and without certificates, with the time to copy what it must move."""
    cupy = require_cupy()
    X = cupy.asarray(samples(n).T)
    functions = device_functions_for(np.dtype(np.float32), cupy.cuda.Device().id)
    sweeps = Sweeps(Osc(0.1, 1.0), reduce_on_device(X, cupy), functions)
    state = sweeps.zero_state(10.0, 30.0)
    source, target = sweeps.zero_state(1.0, 1.0).V, cupy.empty((n, sweeps.m), np.float32)
    source[:] = cupy.random.standard_normal(source.shape, dtype=np.float32)
    copy = milliseconds(lambda: cupy.copyto(target, source), 20)

    def some() -> None:
        for _ in range(CHECK_EVERY):
            advance(sweeps, state)

    def some_certified() -> None:
        some()
        sweeps.certify(state)

    one_array = copy / 2
    iteration = milliseconds(some, 10) / CHECK_EVERY
    certified = milliseconds(some_certified, 10) / CHECK_EVERY
    return {
        "n": n,
        "copy GB/s": 2 * source.nbytes / copy / 1e6,
        "floor ms": FLOOR_ARRAYS * one_array,
        "iteration ms": iteration,
        "times the floor": iteration / one_array / FLOOR_ARRAYS,
        "with certificates": certified / one_array / FLOOR_ARRAYS,
    }


def size_row(n: int) -> dict[str, Any]:
    """Return the time and memory of a fit of one size."""
    require_cupy().get_default_memory_pool().free_all_blocks()
    seconds, peak, fit = fit_on_gpu(samples(n), repeats=3)
    return {
        "n": n, "seconds": seconds, "solver": fit.history_[-1].seconds, "iterations": fit.n_iter_,
        "gap": fit.dual_gap_, "subspaces": fit.n_subspaces_, "GPU memory GB": peak / 1e9,
        "arrays of n x n": peak / (4 * n * n),
    }  # fmt: skip


def ordered_row(n: int, dictionary: str, on_cpu: bool) -> dict[str, Any]:
    """Return the times of a fit with the ordered cut, and how well its boundaries agree with the host's."""
    options = {"lambda_1": "auto", "lambda_2": "auto", "cut": "ordered", "dictionary": dictionary}
    X, seconds = samples(n), []
    require_cupy().get_default_memory_pool().free_all_blocks()
    for _ in range(5 if n <= MAX_REPEATED else 2):  # the first one compiles, and loads libraries
        began = time.perf_counter()
        fit = OSC(device="cuda", **options).fit(X)
        seconds.append(time.perf_counter() - began)
    found, peak = fit.segmentation_, require_cupy().get_default_memory_pool().total_bytes()
    row: dict[str, Any] = {
        "n": n, "atoms": fit.segmentation_.representation.Z.shape[0], "first fit": seconds[0],
        "second fit": seconds[1], "median of further": float(np.median(seconds[1:])),
        "solver": fit.history_[-1].seconds, "spans": len(fit.boundaries_) + 1, "labels": fit.n_subspaces_,
        "GPU memory GB": peak / 1e9,
    }  # fmt: skip
    if n <= MAX_REPEATED:
        began, given = time.perf_counter(), (found.representation.samples.T, fit.coef_)
        expected = make_cutter("ordered", *given, min_length=found.cutting.min_length).cut().boundaries
        row["boundaries"] = "equal" if np.array_equal(expected, fit.boundaries_) else "differ"
        row["cut on host"] = time.perf_counter() - began
    if on_cpu:
        other = OSC(**options).fit(X).boundaries_
        near = np.abs(other[:, None] - fit.boundaries_).min(axis=1, initial=n) <= 2
        row["within 2"] = f"{near.mean():.1%} of {len(other)}"
    print(row, flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 2000, 4000], help="samples per fit")
    parser.add_argument("--floors", type=int, nargs="*", default=[4921, 9842], help="samples per iteration")
    parser.add_argument("--ordered", type=int, nargs="*", default=[], help="samples per fit, ordered cut")
    parser.add_argument("--landmarks", type=int, nargs="*", default=[], help="the same with landmarks")
    parser.add_argument("--on-cpu", type=int, default=10_000, help="most samples that the CPU fits as well")
    parser.add_argument("--compare", type=int, help="samples of the comparison with two cores")
    parser.add_argument("--two-cores", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--result", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.two_cores:
        fit_on_two_cores(options.two_cores, options.result)
        return
    cupy = require_cupy()
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    print(f"{properties['name'].decode()}, CuPy {cupy.__version__}; {describe_machine()}\n")
    if options.floors:
        print_table([iteration_floor(n) for n in options.floors])
    if options.compare:
        compare(options.compare)
    if options.sizes:
        print_table([size_row(n) for n in options.sizes])
    for dictionary, sizes in (("samples", options.ordered), ("landmarks", options.landmarks)):
        if sizes:
            print(f"Ordered cut, dictionary={dictionary!r}:")
            print_table([ordered_row(n, dictionary, n <= options.on_cpu) for n in sizes])


if __name__ == "__main__":
    main()
