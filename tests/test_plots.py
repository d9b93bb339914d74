from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from seqspan._core.solution import Progress
from seqspan._core.spans import Span
from seqspan.plots import (
    COLOURS,
    STYLE,
    plot_convergence,
    plot_matrix,
    plot_segmentation,
    plot_spans,
)


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def test_matrix_shows_absolute_values_and_saturates_the_largest(ax):
    matrix = np.array([[0.0, -2.0], [1.0, 0.5]])
    image = plot_matrix(ax, matrix, title="Z").get_images()[0]
    np.testing.assert_array_equal(image.get_array(), np.abs(matrix))
    assert ax.get_title() == "Z"


def test_a_zero_matrix_can_be_drawn(ax):
    assert plot_matrix(ax, np.zeros((3, 3))).get_images()[0].get_clim() == (0, 1)


def test_spans_have_the_colour_of_their_label(ax):
    plot_spans(ax, {"truth": np.array(["a", "a", "b", "a"]), "found": np.array([0, 1, 1, 0])})
    bars = [(bar.get_y() + bar.get_height() / 2, bar.get_x(), bar.get_width()) for bar in ax.patches]
    assert bars == [(0, 0, 2), (0, 2, 1), (0, 3, 1), (1, 0, 1), (1, 1, 2), (1, 3, 1)]
    colours = [plt.matplotlib.colors.to_hex(bar.get_facecolor()).upper() for bar in ax.patches]
    assert colours == [COLOURS[k] for k in (0, 1, 0, 0, 1, 0)]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["truth", "found"]


def test_names_of_labels_do_not_matter_for_colours(ax):
    plot_spans(ax, {"truth": np.array([0, 0, 1, 1, 2]), "found": np.array([7, 7, 2, 2, 0])})
    colours = [plt.matplotlib.colors.to_hex(bar.get_facecolor()).upper() for bar in ax.patches]
    assert colours == [COLOURS[k] for k in (0, 1, 2, 0, 1, 2)]


def test_labels_that_match_none_get_colours_of_their_own(ax):
    plot_spans(ax, {"truth": np.array([0, 0, 0, 1]), "found": np.array([5, 4, 4, 3])})
    colours = [plt.matplotlib.colors.to_hex(bar.get_facecolor()).upper() for bar in ax.patches]
    assert colours == [COLOURS[k] for k in (0, 1, 2, 0, 1)]


def test_timelines_of_other_lengths_keep_their_own_numbers(ax):
    plot_spans(ax, {"all": np.array([0, 1]), "part": np.array([3, 3, 9])})
    colours = [plt.matplotlib.colors.to_hex(bar.get_facecolor()).upper() for bar in ax.patches]
    assert colours == [COLOURS[k] for k in (0, 1, 0, 1)]


def test_vertical_spans_run_from_top_to_bottom(ax):
    plot_spans(ax, {"truth": np.array([0, 0, 1]), "found": np.array([1, 0, 0])}, vertical=True)
    bars = [(bar.get_x() + bar.get_width() / 2, bar.get_y(), bar.get_height()) for bar in ax.patches]
    assert bars == [(0, 0, 2), (0, 2, 1), (1, 0, 1), (1, 1, 2)]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["truth", "found"]
    assert ax.get_ylabel() == "sample"
    assert ax.get_ylim() == (3, 0)


SPANS = (Span(0, 4, 0.5, 2.5, 0), Span(4, 6, 2.5, 3.5, 9), Span(6, 10, 3.5, 5.5, 0))


def test_a_segmentation_is_drawn_over_its_times_with_one_legend_entry_per_label(ax):
    assert plot_segmentation(SPANS, "s", ax) is ax
    assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [(0.5, 2), (2.5, 1), (3.5, 2)]
    colours = [plt.matplotlib.colors.to_hex(bar.get_facecolor()).upper() for bar in ax.patches]
    assert colours == [COLOURS[0], COLOURS[9 % len(COLOURS)], COLOURS[0]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["A", "J"]
    assert ax.get_xlim() == (0.5, 5.5)


@pytest.mark.parametrize(("unit", "name"), [("ms", "time [ms]"), ("m", "depth [m]"), ("sample", "sample")])
def test_the_axis_is_named_after_the_unit(ax, unit, name):
    assert plot_segmentation(SPANS, unit, ax).get_xlabel() == name


def test_a_segmentation_makes_its_own_axes():
    ax = plot_segmentation(SPANS, "s")
    assert len(ax.patches) == len(SPANS)
    plt.close(ax.figure)


def test_the_style_is_one_that_matplotlib_knows():
    with plt.style.context(STYLE):
        assert plt.rcParams["axes.prop_cycle"].by_key()["color"] == list(COLOURS)


def test_convergence_draws_a_line_per_solver_and_leaves_zero_gaps_out(ax):
    history = [Progress(5, 2.0, 0.1, 0.5), Progress(10, 1.5, 0.0, 1.0)]
    plot_convergence(ax, {"fast": history, "vladmap": history[:1]})
    assert [line.get_label() for line in ax.get_lines()] == ["fast", "vladmap"]
    np.testing.assert_allclose(ax.get_lines()[0].get_xydata(), [[0.5, 0.1]])
