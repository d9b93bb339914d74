"""Experiments against noise: their cases, their draws, and weights tuned on seeds of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from seqspan.datasets import make_subspaces
from seqspan.reproduction import _study, mocap, spectra, synthetic, video
from seqspan.reproduction._methods import METHODS, VARIANTS
from seqspan.reproduction._study import COLUMNS, LEVELS, PARAMETERS, Study
from seqspan.reproduction._tables import rows_of, statistics, table_of
from seqspan.reproduction.sweep import generator_of, key_of, text_of

STUDIES = {"synthetic": synthetic, "spectra": spectra, "video": video, "mocap": mocap}


def search_rows(errors):
    """Rows of a search: {(method, lambda_1, lambda_2): errors by seed}."""
    names = ("coefficient_mean", "recording", "method", "lambda_1", "lambda_2", "error")
    rows = [(0.1, "", *key, error) for key, found in errors.items() for error in found]
    return pl.DataFrame(rows, schema=names, orient="row")


def test_the_full_grid_is_the_papers():
    for module in (synthetic, spectra):
        cases = module.cases(module.GRID, pl.DataFrame())
        paper = [case for case in cases if case["method"] in METHODS]
        assert len(paper) == 2 * 9 * 50 * 4
        assert (
            {case["psnr_target"] for case in paper} == {np.inf, 30, 24, 20, 16, 13, 10, 7, 4} == set(LEVELS)
        )
        assert {case["coefficient_mean"] for case in paper} == {0.1, 0.0}
        assert {case["method"] for case in cases} == {*METHODS, *VARIANTS}
    assert len(video.cases(video.GRID, pl.DataFrame())) == 3 * 9 * 50 * 4


@pytest.mark.parametrize("name", STUDIES)
def test_the_search_has_seeds_of_its_own_and_tries_the_papers_weights(name):
    module = STUDIES[name]
    for grid in (module.GRID, module.QUICK):
        search = module.search_cases(grid)
        own = {case["seed"] for case in search}
        assert not own & {case["seed"] for case in module.cases(grid.with_repeats(50), pl.DataFrame())}
        tried = {(case["method"], case["lambda_1"], case["lambda_2"]) for case in search}
        assert {(method, *module.STUDY.paper(method)) for method in METHODS} <= tried


@pytest.mark.parametrize("name", STUDIES)
def test_quick_is_a_small_part_of_full(name):
    module = STUDIES[name]
    full = {key_of(case, PARAMETERS) for case in module.cases(module.GRID, pl.DataFrame())}
    quick = {key_of(case, PARAMETERS) for case in module.cases(module.QUICK, pl.DataFrame())}
    assert quick < full
    assert len(quick) < len(full) / 10


def test_tuned_weights_have_the_smallest_mean_error():
    errors = {("osc", 0.1, 1.0): [0.2, 0.4], ("osc", 0.1, 3.0): [0.0, 0.5], ("osc", 0.2, 1.0): [0.9, 0.1],
              ("ssc", 0.2, None): [0.3, 0.3], ("ssc", 0.1, None): [0.3, 0.3]}  # fmt: skip
    tuned = synthetic.STUDY.tuned(search_rows(errors))
    assert tuned == {(0.1, "", "osc"): (0.1, 3.0), (0.1, "", "ssc"): (0.1, None)}  # a tie: the smaller
    shuffled = synthetic.STUDY.tuned(search_rows(errors).sample(fraction=1, shuffle=True, seed=1))
    assert shuffled == tuned


def test_tuned_cases_carry_the_weights_that_were_found():
    found = search_rows({("lrr", 1.6, None): [0.1], ("lrr", 0.4, None): [0.2]})
    cases = synthetic.cases(synthetic.QUICK, found)
    tuned = [case for case in cases if case["parameters"] == "tuned"]
    assert {(case["method"], case["lambda_1"], case["coefficient_mean"]) for case in tuned} == {
        ("lrr", 1.6, 0.1)
    }


def test_recordings_of_a_pool_share_their_weights():
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
    found = mocap.STUDY.tuned(table)
    assert found == {(None, "cmu86", "lrr"): (1.6, None), (None, "hdm05", "lrr"): (0.4, None)}


def run(case):
    return synthetic.run(case, generator_of("x", case, synthetic.DRAWN_BY))


def test_data_kept_from_the_case_before_change_nothing(monkeypatch):
    grid = replace(synthetic.QUICK, levels=(10.0,), repeats=2, variants=(), sources=((0.1, ""),))
    cases = [case for case in synthetic.cases(grid, pl.DataFrame()) if case["method"] in ("osc", "lrr")]
    together = [run(case) for case in cases]
    alone = []
    for case in reversed(cases):
        _study._last.clear()
        alone.append(run(case))
    for one, other in zip(together, reversed(alone), strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}


def test_methods_share_their_data_and_repeats_do_not():
    drawn = []

    def draw(case, rng, data):
        drawn.append(case["seed"])
        return make_subspaces(3, 2, 20, 8, rng=rng)

    study = Study(draw)
    seen = {}
    for seed in (0, 1):
        for method in ("lrr", "ssc"):
            case = {"seed": seed, "method": method, "coefficient_mean": 0.1, "psnr_target": 20.0,
                    "recording": "", "lambda_1": 0.4, "lambda_2": None}  # fmt: skip
            study.run(case, generator_of("x", case, synthetic.DRAWN_BY), None)
            seen[seed, method] = next(iter(_study._last.values())).X
    assert drawn == [0, 1]
    assert seen[0, "lrr"] is seen[0, "ssc"]
    assert not np.allclose(seen[0, "lrr"], seen[1, "lrr"])


def test_noise_is_of_the_strength_asked_for_and_columns_are_unit():
    clean = 7.0 * np.random.default_rng(0).random((40, 10))
    study = Study(lambda case, rng, data: (clean, np.arange(10) // 5))
    case = {"seed": 0, "psnr_target": 10.0, "coefficient_mean": None, "recording": ""}
    problem = study._make(case, None, np.random.default_rng(5))
    A = clean / np.linalg.norm(clean, axis=0)
    noise = np.random.default_rng(5).standard_normal(A.shape)
    X = A + noise * A.max() * 10**-0.5 / np.sqrt(np.mean(noise**2))
    X /= np.linalg.norm(X, axis=0)
    assert problem.psnr == pytest.approx(10)
    assert problem.X.shape == (10, 10)  # reduced, with the same products
    assert np.allclose(problem.X.T @ problem.X, X.T @ X)


def test_rows_of_another_grid_stay_out_of_the_table():
    cases = synthetic.cases(replace(synthetic.QUICK, repeats=1), pl.DataFrame())
    rows = {
        key_of(case, PARAMETERS): {name: text_of(case.get(name, 0.5)) for name in COLUMNS} for case in cases
    }
    chosen = rows_of(cases[:3], rows, PARAMETERS)
    assert len(chosen) == 3
    assert len(table_of(chosen, COLUMNS)) == 3


def test_statistics_are_numpys():
    rng = np.random.default_rng(0)
    errors = rng.random(7)
    rows = [{"method": "osc", "parameters": "paper", "psnr_target": 4.0, "error": error} for error in errors]
    found = statistics(pl.DataFrame(rows)).row(0, named=True)
    assert found["mean"] == pytest.approx(errors.mean())
    assert found["median"] == pytest.approx(np.median(errors))
    assert (found["min"], found["max"], found["count"]) == (errors.min(), errors.max(), 7)
    assert found["se"] == pytest.approx(errors.std(ddof=1) / np.sqrt(7))
