"""Experiments under noise: their cases, their data, and weights tuned on seeds of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from seqspan.datasets import make_subspaces
from seqspan.reproduction import _noise
from seqspan.reproduction._batch import make_generator
from seqspan.reproduction._methods import METHODS, VARIANTS, paper_weights
from seqspan.reproduction._noise import LEVELS, Grid, NoiseExperiment, Panel
from seqspan.reproduction._rows import make_key
from seqspan.reproduction._tables import compute_statistics
from seqspan.reproduction.mocap import MOCAP
from seqspan.reproduction.spectra import SPECTRA
from seqspan.reproduction.synthetic import SYNTHETIC
from seqspan.reproduction.video import VIDEO

UNDER_NOISE = pytest.mark.parametrize(
    "experiment", [SYNTHETIC, SPECTRA, VIDEO, MOCAP], ids=lambda experiment: experiment.name
)


def make_experiment(name, load):
    """An experiment on data of one's own."""
    panels = (Panel("own", "Own data", 0.1),)
    return NoiseExperiment(
        name=name, title="Own", panels=panels, full=Grid(), quick=Grid(), load=load, seconds=1.0
    )


def search_rows(errors):
    """Rows of a search: {(method, lambda_1, lambda_2): errors by seed}."""
    names = ("coefficient_mean", "recording", "method", "lambda_1", "lambda_2", "error")
    rows = [(0.1, "", *key, error) for key, found in errors.items() for error in found]
    return pl.DataFrame(rows, schema=names, orient="row")


def test_the_full_grid_is_the_papers():
    for experiment in (SYNTHETIC, SPECTRA):
        cases = experiment.cases(experiment.full, pl.DataFrame())
        paper = [case for case in cases if case["method"] in METHODS]
        assert len(paper) == 2 * 9 * 50 * 4
        assert (
            {case["psnr_target"] for case in paper} == {np.inf, 30, 24, 20, 16, 13, 10, 7, 4} == set(LEVELS)
        )
        assert {case["coefficient_mean"] for case in paper} == {0.1, 0.0}
        assert {case["method"] for case in cases} == {*METHODS, *VARIANTS}
    assert len(VIDEO.cases(VIDEO.full, pl.DataFrame())) == 3 * 9 * 50 * 4
    assert len(MOCAP.cases(MOCAP.full, pl.DataFrame())) == 15 * 9 * 50 * 4


@UNDER_NOISE
def test_the_search_has_its_own_seeds_and_tries_the_papers_weights(experiment):
    for grid in (experiment.full, experiment.quick):
        search = experiment.search_cases(grid)
        own = {case["seed"] for case in search}
        assert not own & {
            case["seed"] for case in experiment.cases(replace(grid, repeats=50), pl.DataFrame())
        }
        tried = {(case["method"], case["lambda_1"], case["lambda_2"]) for case in search}
        assert {(method, *paper_weights(method, experiment.weights)) for method in METHODS} <= tried


@UNDER_NOISE
def test_quick_is_a_small_part_of_full(experiment):
    full, quick = (
        {make_key(case, experiment.case_columns) for case in experiment.cases(grid, pl.DataFrame())}
        for grid in (experiment.full, experiment.quick)
    )
    assert quick < full
    assert len(quick) < len(full) / 10


def test_tuned_weights_have_the_smallest_mean_error():
    errors = {("osc", 0.1, 1.0): [0.2, 0.4], ("osc", 0.1, 3.0): [0.0, 0.5], ("osc", 0.2, 1.0): [0.9, 0.1],
              ("ssc", 0.2, None): [0.3, 0.3], ("ssc", 0.1, None): [0.3, 0.3]}  # fmt: skip
    tuned = SYNTHETIC.tune(search_rows(errors))
    # the smaller weight wins the tie of SSC, and nothing was searched for the other mean
    assert tuned == {"mean_0.1": {"osc": (0.1, 3.0), "ssc": (0.1, None)}, "mean_0": {}}
    shuffled = SYNTHETIC.tune(search_rows(errors).sample(fraction=1, shuffle=True, seed=1))
    assert shuffled == tuned


def test_tuned_cases_carry_the_weights_that_were_found():
    found = search_rows({("lrr", 1.6, None): [0.1], ("lrr", 0.4, None): [0.2]})
    cases = SYNTHETIC.cases(SYNTHETIC.quick, found)
    tuned = [case for case in cases if case["parameters"] == "tuned"]
    assert {(case["method"], case["lambda_1"], case["coefficient_mean"]) for case in tuned} == {
        ("lrr", 1.6, 0.1)
    }


def test_recordings_of_a_panel_share_their_weights():
    rows = [
        (None, recording, "lrr", weight, None, error)
        for recording, weight, error in [
            ("cmu86/1", 0.4, 0.5), ("cmu86/3", 0.4, 0.0), ("cmu86/1", 1.6, 0.0), ("cmu86/3", 1.6, 0.4),
            ("hdm05/bd", 0.4, 0.1),
        ]
    ]  # fmt: skip
    names = ("coefficient_mean", "recording", "method", "lambda_1", "lambda_2", "error")
    types = (pl.Float64, pl.String, pl.String, pl.Float64, pl.Float64, pl.Float64)
    table = pl.DataFrame(rows, schema=dict(zip(names, types, strict=True)), orient="row")
    assert MOCAP.tune(table) == {"cmu86": {"lrr": (1.6, None)}, "mocap6": {}, "hdm05": {"lrr": (0.4, None)}}


def run(case):
    return SYNTHETIC.run(case, make_generator("x", case, SYNTHETIC.data_columns))


def test_reusing_the_data_of_the_previous_case_changes_nothing():
    grid = replace(SYNTHETIC.quick, levels=(10.0,), repeats=2, variants=(), sources=((0.1, ""),))
    cases = [case for case in SYNTHETIC.cases(grid, pl.DataFrame()) if case["method"] in ("osc", "lrr")]
    together = [run(case) for case in cases]
    alone = []
    for case in reversed(cases):
        _noise._latest.clear()
        alone.append(run(case))
    for one, other in zip(together, reversed(alone), strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}


def test_methods_share_their_data_and_repeats_do_not():
    loads = []

    def load(source, rng, data):
        loads.append(source)
        return make_subspaces(3, 2, 20, 8, rng=rng)

    experiment = make_experiment("shared", load)
    seen = {}
    for seed in (0, 1):
        for method in ("lrr", "ssc"):
            case = {"seed": seed, "method": method, "coefficient_mean": 0.1, "psnr_target": 20.0,
                    "recording": "", "lambda_1": 0.4, "lambda_2": None}  # fmt: skip
            experiment.run(case, make_generator("x", case, experiment.data_columns))
            seen[seed, method] = next(iter(_noise._latest.values())).X
    assert loads == [(0.1, "")] * 2
    assert seen[0, "lrr"] is seen[0, "ssc"]
    assert not np.allclose(seen[0, "lrr"], seen[1, "lrr"])


def test_experiments_do_not_take_each_others_data():
    case = {"seed": 0, "method": "lrr", "coefficient_mean": 0.1, "psnr_target": np.inf,
            "recording": "", "lambda_1": 0.4, "lambda_2": None}  # fmt: skip
    for name, n in (("one", 10), ("other", 20)):
        labels = np.repeat([0, 1], n // 2)
        data = np.random.default_rng(n).random((5, n)), labels
        make_experiment(name, lambda source, rng, folder, data=data: data).run(case, np.random.default_rng(0))
        assert next(iter(_noise._latest.values())).X.shape == (5, n)


def test_noise_has_the_strength_asked_for_and_columns_are_unit():
    clean = 7.0 * np.random.default_rng(0).random((40, 10))
    experiment = make_experiment("noisy", lambda source, rng, data: (clean, np.arange(10) // 5))
    case = {"seed": 0, "psnr_target": 10.0, "coefficient_mean": None, "recording": ""}
    problem = experiment._make_problem(case, None, np.random.default_rng(5))
    A = clean / np.linalg.norm(clean, axis=0)
    noise = np.random.default_rng(5).standard_normal(A.shape)
    X = A + noise * A.max() * 10**-0.5 / np.sqrt(np.mean(noise**2))
    X /= np.linalg.norm(X, axis=0)
    assert problem.psnr == pytest.approx(10)
    assert problem.X.shape == (10, 10)  # reduced, with the same products
    assert np.allclose(problem.X.T @ problem.X, X.T @ X)


def test_statistics_are_numpys():
    rng = np.random.default_rng(0)
    errors = rng.random(7)
    rows = [{"method": "osc", "parameters": "paper", "psnr_target": 4.0, "error": error} for error in errors]
    found = compute_statistics(pl.DataFrame(rows)).row(0, named=True)
    assert found["mean"] == pytest.approx(errors.mean())
    assert found["median"] == pytest.approx(np.median(errors))
    assert (found["min"], found["max"], found["count"]) == (errors.min(), errors.max(), 7)
    assert found["se"] == pytest.approx(errors.std(ddof=1) / np.sqrt(7))
