"""The summary says what the rows say, and nothing else."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

from seqspan.reproduction import EXPERIMENTS
from seqspan.reproduction._figures import draw_statistics
from seqspan.reproduction._methods import METHODS, VARIANTS
from seqspan.reproduction._summary import judge_claim
from seqspan.reproduction._tables import format_errors


def rows(means, spread=0.01, repeats=20, parameters="paper", **others):
    """Rows with chosen mean errors: {(method, level): mean}."""
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        [
            {
                "seed": float(seed), "method": method, "parameters": parameters, "coefficient_mean": 0.1,
                "psnr_target": level, "recording": "", "error": mean + spread * rng.standard_normal(),
                "objective": 10.0, **others,
            }
            for (method, level), mean in means.items() for seed in range(repeats)
        ]
    ).with_columns(error_linked="error", error_toolbox="error")  # fmt: skip


def means(osc, spatsc, lrr, ssc, level=4.0):
    return {("osc", level): osc, ("spatsc", level): spatsc, ("lrr", level): lrr, ("ssc", level): ssc}


def test_a_better_osc_is_called_better():
    said = judge_claim(rows(means(0.0, 0.3, 0.6, 0.2)))
    assert "ahead of SpatSC at 4 dB; ahead of LRR at 4 dB; ahead of SSC at 4 dB" in said
    assert "Of 3 comparisons, OSC clearly wins 3 and clearly loses 0" in said
    assert "holds: OSC clearly wins 3 of the 3 comparisons with errors" in said


def test_a_worse_osc_is_called_worse():
    said = judge_claim(rows(means(0.5, 0.3, 0.2, 0.2)))
    assert "behind SpatSC at 4 dB; behind LRR at 4 dB; behind SSC at 4 dB" in said
    assert "does not hold" in said


def test_where_nobody_errs_there_is_nothing_to_claim():
    said = judge_claim(rows(means(0.0, 0.0, 0.0, 0.0, level=np.inf), spread=0.0))
    assert "level with SSC without noise" in said
    assert "is undecided" in said


def test_levels_at_which_a_rival_is_ahead_are_named():
    both = {**means(0.05, 0.3, 0.6, 0.2), **means(0.05, 0.06, 0.3, 0.01, level=10.0)}
    said = judge_claim(rows(both, spread=0.004))
    assert "behind SSC at 10 dB" in said
    assert "ahead of SSC at 4 dB" in said


def test_a_difference_within_its_error_is_none():
    said = judge_claim(rows(means(0.30, 0.31, 0.31, 0.31), spread=0.3))
    assert "Of 3 comparisons, OSC clearly wins 0 and clearly loses 0" in said


def full_rows(**others):
    chosen = means(0.002, 0.2, 0.64, 0.135) | {(name, 4.0): 0.1 for name in VARIANTS}
    return rows(chosen, **others)


def test_known_figures_are_compared_with_all_three_cuts():
    said = EXPERIMENTS["synthetic"].summarise(full_rows(), pl.DataFrame())
    lines = {line.split(" | ")[0].strip("| "): line for line in said.splitlines() if "± " in line}
    assert lines["ssc"].startswith("| ssc | 4 dB | 0.135 | 0.1")
    assert lines["ssc"].endswith("| plain cut, neighbours linked, MATLAB code's |")
    assert lines["spatsc"].endswith("| none |")
    closer = full_rows().with_columns(error_toolbox=pl.col("error") - 0.181)
    said = EXPERIMENTS["synthetic"].summarise(closer, pl.DataFrame())
    assert re.search(r"\| spatsc \| 4 dB \| 0.019 .* \| MATLAB code's \|", said)


def test_a_rival_ahead_with_another_cut_is_reported():
    table = full_rows().with_columns(
        error_toolbox=pl.when(pl.col("method") == "osc").then(pl.col("error") + 0.5).otherwise("error")
    )
    said = EXPERIMENTS["synthetic"].summarise(table, pl.DataFrame())
    assert re.search(r"With the MATLAB code's cut, OSC is [^.]*behind SSC at 4 dB", said)


@pytest.mark.parametrize(
    ("objective", "said"), [(10.0, "does not diverge"), (1e60, "**diverges**"), (np.nan, "**diverges**")]
)
def test_divergence_is_read_off_the_objective(objective, said):
    assert said in EXPERIMENTS["synthetic"].summarise(full_rows(objective=objective), pl.DataFrame())


def test_the_effect_of_non_negative_coefficients_is_reported():
    said = EXPERIMENTS["synthetic"].summarise(full_rows(spread=0.0), pl.DataFrame())
    assert "it raises the error of OSC (0.002 without, 0.100 with)" in said
    assert "it lowers the error of SpatSC (0.200 without, 0.100 with)" in said


def test_tables_and_figures_show_the_means():
    table = rows(means(0.1, 0.2, 0.3, 0.4) | means(0.0, 0.0, 0.1, 0.0, level=np.inf), spread=0.0)
    assert "| osc | 0.000 | 0.100 |" in format_errors(table, METHODS)
    tuned = rows(means(0.05, 0.1, 0.1, 0.1), parameters="tuned")
    figure = draw_statistics(pl.concat([table, tuned]), "a title")
    assert len(figure.axes) == 8
    lines = {line.get_label(): line for line in figure.axes[0].get_lines()}
    assert list(lines) == ["OSC", "SpatSC", "LRR", "SSC"]
    assert lines["LRR"].get_ydata() == pytest.approx([0.1, 0.3])
    assert [text.get_text() for text in figure.axes[4].get_xticklabels()] == ["4"]


def test_a_claim_that_holds_at_half_of_the_levels_holds_in_part():
    levels = (4.0, 6.0, 8.0)
    even = {key: mean for level in levels[1:] for key, mean in means(0.3, 0.3, 0.3, 0.3, level=level).items()}
    said = judge_claim(rows(means(0.0, 0.3, 0.6, 0.2) | even, spread=0.0))
    assert "holds in part: OSC clearly wins 3 of the 9 comparisons with errors" in said


def test_nothing_is_said_of_a_rival_without_rows():
    """A run that is not done yet has rows of some methods only."""
    said = judge_claim(rows({("osc", 4.0): 0.1, ("ssc", 4.0): 0.3}))
    assert said.startswith("OSC is ahead of SSC at 4 dB. Of 1 comparisons, OSC clearly wins 1")
    assert "not compared yet. Of 0 comparisons" in judge_claim(rows({("osc", 4.0): 0.1}))


def test_figures_known_of_other_levels_are_not_compared():
    said = EXPERIMENTS["synthetic"].summarise(rows(means(0.0, 0.3, 0.6, 0.2, level=5.5)), pl.DataFrame())
    assert "earlier results" not in said
    assert "ahead of SSC at 5.5 dB" in said


def test_a_method_without_rows_has_no_line():
    figure = draw_statistics(rows({("osc", 4.0): 0.1, ("ssc", 4.0): 0.3}), "a title")
    assert [line.get_label() for line in figure.axes[0].get_lines()] == ["OSC", "SSC"]


def recordings(*names):
    """Rows of every method on some recordings; OSC makes the fewest errors."""
    return pl.concat(
        [rows(means(0.1, 0.4, 0.5, 0.3)).with_columns(recording=pl.lit(name)) for name in names]
    ).with_columns(coefficient_mean=pl.lit(None, pl.Float64))


def test_motion_is_summed_up_and_drawn_by_data_set():
    table = recordings("cmu86/9", "cmu86/11", "mocap6/13_30")
    said = EXPERIMENTS["mocap"].summarise(table, pl.DataFrame())
    assert said.startswith("# Motion capture\n\nThe paper's recording")
    assert "## cmu86: 2 recordings" in said
    assert "## mocap6: 1 recording\n" in said
    assert said.count("ahead of LRR at 4 dB") >= 2
    figures = EXPERIMENTS["mocap"].draw_figures(table)
    assert list(figures) == ["cmu86", "mocap6"]
    assert figures["mocap6"].get_suptitle() == "CMU subjects 13 and 14, 6 routines"


def test_clips_are_summed_up_and_drawn_together():
    table = recordings("A", "B", "C")
    assert "## clips: 3 recordings" in EXPERIMENTS["video"].summarise(table, pl.DataFrame())
    (figure,) = EXPERIMENTS["video"].draw_figures(table).values()
    assert figure.get_suptitle() == "Video, 3 clips of 300 frames and three scenes"
    osc = figure.axes[0].get_lines()[0]
    assert osc.get_ydata() == pytest.approx([0.1], abs=0.01)


def test_spectra_are_drawn_by_the_mean_of_their_coefficients():
    both = [
        rows(means(0.1, 0.4, 0.5, 0.3)).with_columns(coefficient_mean=mean)
        for mean in map(pl.lit, (0.0, 0.1))
    ]
    figures = EXPERIMENTS["spectra"].draw_figures(pl.concat(both))
    assert list(figures) == ["mean_0.1", "mean_0"]
    assert figures["mean_0"].get_suptitle() == "Mineral spectra, coefficients of mean 0"
    said = EXPERIMENTS["spectra"].summarise(both[1], pl.DataFrame())
    assert said.startswith("# Semi-synthetic data: mineral spectra")
    assert "ahead of SpatSC at 4 dB" in said
