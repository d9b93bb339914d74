"""The benchmark of quality at toy size, on made-up data."""

import doctest
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.quality import __main__ as command
from benchmarks.quality import change_points, peers, rows, scores, table, timelines, tw_finch, variants
from benchmarks.quality.features import embed, join_spans, make_features, rotate, slope_heuristic
from benchmarks.quality.lanes import Lane
from benchmarks.quality.methods import GIVEN, Method
from benchmarks.quality.rows import append_row, is_finished, read_rows, read_runs, write_runs
from benchmarks.quality.scores import (
    boundary_margin,
    judge_cuts,
    score_answer,
    score_boundaries,
    score_rows,
)
from benchmarks.quality.sets import Labelled, draw_clips
from benchmarks.quality.shared import shared, take_saved_seconds
from benchmarks.quality.timelines import match_labels

from seqspan.cuts import boundaries_from_labels

TRUTH = np.repeat([0, 1, 0, 2], [30, 25, 35, 30])


def score_labels(sequence, labels):
    return score_answer(sequence, labels, boundaries_from_labels(labels))


def made_up(name="one", **settings):
    """Three far-apart means in six dimensions, one of them twice."""
    rng = np.random.default_rng(len(name))
    X = 10 * np.eye(3, 6)[TRUTH] + rng.normal(size=(len(TRUTH), 6))
    return Labelled("toy", name, "table", X, TRUTH, **settings)


@pytest.fixture
def toy_set(monkeypatch, tmp_path):
    def toy(data):
        yield made_up()
        yield made_up(name="second")

    monkeypatch.setattr(command, "SETS", {"toy": toy})
    return ["--data", str(tmp_path), "--out", str(tmp_path / "out"), "--sets", "toy"]


def test_the_command_runs_scores_and_goes_on_where_it_was(toy_set, tmp_path, capsys):
    arguments = [*toy_set, "--methods", "equal split", "k-means raw", "--given", "both", "nothing"]
    command.main(arguments)
    path = tmp_path / "out" / "quality.csv"
    table_rows = read_rows(path)
    assert len(table_rows) == 2 * 2 * 2
    found = table_rows["toy", "one", "k-means raw", "both"]
    labels, _ = read_runs(found["runs"])
    assert np.array_equal(match_labels(TRUTH, labels), TRUTH)  # the means are ten standard deviations apart
    assert table_rows["toy", "one", "equal split", "nothing"]["runs"] == "120:0"
    text = (tmp_path / "out" / "quality.md").read_text()
    assert "### toy, 2 sequences: nothing given" in text
    assert (tmp_path / "out" / "timelines-toy-both.png").read_bytes().startswith(b"\x89PNG")
    before, _ = path.read_bytes(), capsys.readouterr()
    command.main(arguments)
    assert path.read_bytes() == before
    assert "k-means" not in capsys.readouterr().out


def test_a_setting_that_tells_a_method_nothing_new_takes_over_its_row(toy_set, tmp_path, capsys):
    for given in ("both", "subspaces"):
        command.main([*toy_set, "--methods", "k-means raw", "--given", given])
    table_rows = read_rows(tmp_path / "out" / "quality.csv")
    both, subspaces = (table_rows["toy", "one", "k-means raw", given] for given in ("both", "subspaces"))
    assert {**both, "given": "subspaces"} == subspaces
    assert capsys.readouterr().out.count("k-means raw: done") == 2  # once for each recording


def test_a_pattern_that_fits_nothing_names_what_there_is(toy_set):
    with pytest.raises(SystemExit, match=r"fits no method.*KernelCPD"):
        command.main([*toy_set, "--methods", "nonsense"])


@pytest.mark.parametrize(
    ("method", "status"),
    [
        ("forever", "over 1 s"),
        ("absent", "not installed: nowhere"),
        ("wrong", "failed: ValueError: 10 labels"),
    ],
)
def test_a_method_that_cannot_finish_is_a_row_that_says_so(tmp_path, monkeypatch, method, status):
    # A home of toy methods, found by the worker on its path, in place of the peers.
    home = tmp_path / "benchmarks" / "quality"
    home.mkdir(parents=True)
    for name in ("__init__.py", "worker.py", "methods.py", "shared.py"):
        (home / name).write_text((Path(command.__file__).parent / name).read_text())
    (tmp_path / "benchmarks" / "__init__.py").write_text("")
    (home / "peers.py").write_text(TOY_HOME)
    monkeypatch.setattr("benchmarks.quality.lanes.ROOT", tmp_path)
    np.save(tmp_path / "rows.npy", np.zeros((10, 2)))
    task = {
        "rows": str(tmp_path / "rows.npy"), "source": "", "kind": "table", "n": 10,
        "told": [2, 2], "seed": 0,
    }  # fmt: skip
    lane = Lane(limit=1)
    assert lane.ask("peers", {**task, "method": method})["status"].startswith(status)
    answer = lane.ask("peers", {**task, "method": "loud"})  # the lane goes on, whatever was printed
    divided = lane.ask("peers", {**task, "method": "split"})
    lane.close()
    assert (divided["labels"], divided["boundaries"]) == ([0] * 10, [3])
    assert answer["status"] == "done"
    assert answer["labels"] == [0] * 4 + [1] * 6
    assert answer["boundaries"] is None


TOY_HOME = """
import numpy as np
from benchmarks.quality.methods import Answer, Method

def forever(X, *rest):
    while len(X) == 10:
        pass

def wrong(X, *rest):
    return np.zeros(3)

def split(X, *rest):
    return Answer(np.zeros(len(X)), np.array([3]))

def loud(X, *rest):
    print("a line that is no answer")
    return np.repeat([5, 9], [4, len(X) - 4])

METHODS = (
    Method("forever", "toy", forever), Method("wrong", "toy", wrong), Method("loud", "toy", loud),
    Method("split", "toy", split),
    Method("absent", "toy", loud, needs=("nowhere",)),
)
"""


def test_peers_import_neither_seqspan_nor_pyav():
    code = "import sys, benchmarks.quality.peers; print({'seqspan', 'av', 'cv2'} & set(sys.modules))"
    root = Path(command.__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root)
    assert done.stdout.strip() == "set()", done.stderr


@pytest.mark.parametrize("module", [rows, scores, timelines, tw_finch], ids=lambda module: module.__name__)
def test_examples_in_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_names_are_unique_and_settings_known():
    methods = [*peers.METHODS, *variants.METHODS]
    assert len({method.name for method in methods}) == len(methods)
    assert all(set(method.given) <= set(GIVEN) for method in methods)


@pytest.mark.parametrize(
    ("uses", "given", "told"),
    [
        (("spans", "labels"), "both", (3, 4)), (("spans", "labels"), "subspaces", (None, 4)),
        (("spans", "labels"), "nothing", (None, None)), (("labels",), "both", (None, 4)),
        ((), "both", (None, None)), (("labels",), "boundaries", ((20, 50), 4)),
    ],
)  # fmt: skip
def test_a_method_hears_only_what_is_given_and_used(uses, given, told):
    assert Method("m", "m", None, uses).told(given, np.array([20, 50]), 4) == told


@pytest.mark.parametrize("method", variants.METHODS, ids=lambda method: method.name)
def test_variants_of_seqspan_find_parted_subspaces(method):
    told = method.told(method.given[0], [30, 55, 90], 3)
    labels = method.run(made_up().X, *told, np.random.default_rng(0), "table")
    assert score_labels(made_up(), labels)["accuracy"] > 0.9


def test_constants_are_replaced_for_a_while():
    from seqspan.cuts.spectral import ncut

    usual = ncut.LINK
    with variants.replaced({"cuts.spectral.ncut.LINK": 7.0}):
        assert ncut.LINK == 7
    assert usual == ncut.LINK


def test_scores_of_the_truth_are_perfect_and_of_one_span_are_not():
    perfect = score_labels(made_up(), TRUTH + 5)
    assert [perfect[name] for name in ("accuracy", "nmi", "ari", "covering", "boundary_f1")] == [1] * 5
    assert (perfect["found_spans"], perfect["found_labels"]) == (4, 3)
    nothing = score_labels(made_up(), np.zeros_like(TRUTH))
    assert nothing["accuracy"] == pytest.approx(65 / 120)
    assert nothing["boundary_f1"] == 0
    assert "cuts_found" not in nothing


def test_rows_that_are_not_annotated_count_for_boundaries_only():
    sequence = made_up(ignore=(0,))
    labels = np.repeat([7, 1, 2], [30, 25, 65])  # right on the rows of 1 and 2, wrong on half of those of 0
    found = score_labels(sequence, labels)
    assert [found[name] for name in ("accuracy", "nmi", "ari")] == [1, 1, 1]
    assert found["boundary_f1"] == pytest.approx(4 / 5)  # two of three boundaries, none false
    assert found["covering"] < 1


def test_joins_are_neither_hits_nor_false():
    margin = boundary_margin(made_up())
    joined = made_up(joins=(15, 90))  # no label changes at 15; one does at 90

    def score(sequence, *found):
        return score_boundaries(sequence, np.array(found))

    assert score(joined, 30, 55) == 1
    assert score(joined, 15 + margin, 30, 55, 90) == 1
    assert score(joined, 15 + margin + 1, 30, 55) == pytest.approx(4 / 5)
    assert score(made_up(), 30, 55) == pytest.approx(4 / 5)
    assert score(made_up(joins=(29,)), 30, 55, 90) == 1  # near a join, but near a true boundary as well


def test_the_margin_is_a_share_of_the_recording_or_of_a_span():
    long_spans = Labelled("toy", "long", "table", np.zeros((1000, 1)), np.repeat([0, 1, 2], [300, 300, 400]))
    short_spans = Labelled("toy", "short", "table", np.zeros((1000, 1)), np.arange(1000) // 24)
    assert boundary_margin(long_spans) == 20
    assert boundary_margin(short_spans) == 4  # a fifth of 24 is 4.8
    assert boundary_margin(Labelled("toy", "tiny", "table", np.zeros((9, 1)), np.arange(9))) == 1


def test_boundaries_between_spans_of_one_label_count():
    halves = score_answer(made_up(), TRUTH, np.array([30, 40, 55, 90]))
    assert halves["accuracy"] == 1
    assert halves["boundary_f1"] == pytest.approx(6 / 7)
    assert halves["covering"] == pytest.approx((30 + 25 * 15 / 25 + 35 + 30) / 120)
    assert halves["found_spans"] == 5
    runs = write_runs(TRUTH, np.array([30, 40, 55, 90]))
    (row,) = score_rows(made_up(), [{"status": "done", "runs": runs}])
    assert row["boundary_f1"] == halves["boundary_f1"]


def test_scores_are_computed_from_the_answer_when_rows_are_read():
    row = {"status": "done", "runs": write_runs(TRUTH), "method": "m"}
    stopped = {"status": "over 5 s", "runs": "", "method": "n"}
    done, other = score_rows(made_up(), [row, stopped])
    assert (done["accuracy"], done["true_spans"], done["true_labels"], done["method"]) == (1, 4, 3, "m")
    # A method without an answer leaves its user with one span.
    assert (other["found_spans"], other["status"]) == (1, "over 5 s")
    assert other["accuracy"] == pytest.approx(65 / 120)


def test_a_search_that_variants_share_runs_once_and_counts_for_each():
    calls = []

    @shared
    def search(X, setting):
        calls.append(setting)
        return sum(range(10**6)) * 0 + setting

    X = np.zeros((3, 2))
    take_saved_seconds()
    assert [search(X, 1), search(X.copy(), 1), search(X, 2)] == [1, 1, 2]
    assert calls == [1, 2]
    assert take_saved_seconds() > 0
    assert take_saved_seconds() == 0
    search(X + 1, 1)
    search(X.reshape(2, 3), 1)
    assert calls == [1, 2, 1, 1]


def test_boundaries_count_within_two_percent():
    shifted = np.repeat([0, 1, 0, 2], [32, 23, 35, 30])  # 2 of 120 samples, as 0.02 * 120 = 2.4 rounds to 2
    farther = np.repeat([0, 1, 0, 2], [33, 22, 35, 30])
    assert score_labels(made_up(), shifted)["boundary_f1"] == 1
    assert score_labels(made_up(), farther)["boundary_f1"] == pytest.approx(2 / 3)


def test_false_boundaries_of_a_film():
    gradual = ((20, 40),)
    assert judge_cuts(np.array([100, 200]), np.array([98, 202]), gradual) == (2, 0)
    assert judge_cuts(np.array([100, 200]), np.array([97, 203]), gradual) == (0, 2)
    assert judge_cuts(np.array([100]), np.array([20, 40, 41, 99, 100]), gradual) == (1, 2)
    assert score_labels(made_up(gradual=((50, 60),)), TRUTH)["cuts_found"] == 3


def test_clips_are_drawn_so_that_neighbours_differ():
    actions = np.repeat(list("abcdefgh"), [5, 3, 2, 4, 2, 6, 1, 2])
    own = np.arange(len(actions))
    for seed in range(20):
        order = draw_clips(actions, own, np.random.default_rng(seed))
        assert len(set(order)) == 12
        assert np.all(actions[order][1:] != actions[order][:-1])
        assert np.unique(actions[order], return_counts=True)[1].tolist() == [2] * 6


def test_features_keep_inner_products_and_lose_constants():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5, 40))
    assert rotate(X).shape == (5, 5)
    assert rotate(X) @ rotate(X).T == pytest.approx(X @ X.T)
    assert np.linalg.norm(make_features(X, "unit"), axis=1) == pytest.approx(np.ones(5))
    tall = np.column_stack([rng.normal(3, 7, size=(50, 2)), np.full(50, 4.0)])
    standardised = make_features(tall, "standardised")
    assert standardised.shape == (50, 2)
    assert standardised.std(axis=0) == pytest.approx([1, 1])
    with pytest.raises(ValueError, match="got 'cooked'"):
        make_features(X, "cooked")


def test_embedding_puts_the_row_in_the_middle():
    rows = np.arange(5.0)[:, None]
    assert embed(rows, 3).tolist() == [[0, 0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 4]]


@pytest.mark.parametrize("n_labels", [3, None])
def test_spans_with_one_mean_are_joined(n_labels):
    answer = join_spans(made_up().X, [30, 40, 55, 90], n_labels)
    assert np.array_equal(match_labels(TRUTH, answer.labels), TRUTH)
    assert answer.boundaries.tolist() == [30, 40, 55, 90]  # at 40 the search saw a change


def test_spans_apart_keep_a_label_each():
    def search(X, n_spans, n_labels, rng, kind):
        return join_spans(X, np.array([30, 55, 90]), n_labels)

    labels, _ = change_points.name_apart(made_up().X, None, None, None, "table", run=search)
    assert np.unique(labels, return_counts=True)[1].tolist() == [30, 25, 35, 30]


def test_slope_heuristic_finds_the_kink():
    n_spans = np.arange(1, 61)
    # Each of the first six changes explains much; what follows is the slow decrease of noise.
    costs = 200.0 - 0.5 * n_spans + 100 * np.maximum(7 - n_spans, 0)
    assert slope_heuristic(costs, 1000) == 7
    assert slope_heuristic(costs, 1000, multiple=500) == 1


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_scatter_is_that_of_the_kernel(kernel):
    class Cost:
        """ruptures' costs, as published in its version 1.1.10: the cosine kernel without its diagonal."""

        def sum_of_costs(self, ends):
            return sum(self.error(*ends_of_one) for ends_of_one in pairwise([0, *ends]))

        def error(self, start, end):
            part = K[start:end, start:end] - (np.eye(end - start) if kernel == "cosine" else 0)
            return np.trace(part) - part.sum() / (end - start)

    X = made_up().X
    X = X / np.linalg.norm(X, axis=1, keepdims=True) if kernel == "cosine" else X
    K = X @ X.T
    expected = sum(((part - part.mean(axis=0)) ** 2).sum() for part in np.split(X, [30, 55]))
    found = change_points._scatter(SimpleNamespace(cost=Cost()), [30, 55, 120], kernel)
    assert found == pytest.approx(expected)


def test_rows_survive_the_file_and_the_last_one_counts(tmp_path):
    path = tmp_path / "quality.csv"
    key = {"set": "s", "sequence": "1", "method": "m, with a comma", "given": "both"}
    append_row(path, {**key, "status": "over 5 s"})
    row = read_rows(path)["s", "1", "m, with a comma", "both"]
    assert is_finished(row, limit=5)
    assert not is_finished(row, limit=6)
    append_row(path, {**key, "status": "done", "runs": write_runs(TRUTH)})
    (row,) = read_rows(path).values()
    assert is_finished(row, limit=6)
    assert np.array_equal(read_runs(row["runs"])[0], TRUTH)
    assert not is_finished({"status": "failed: ValueError"}, limit=1)
    assert not is_finished(None, limit=1)


def make_row(method, accuracy, status="done", sequence="1", peer=None):
    values = dict.fromkeys(("nmi", "ari", "covering", "boundary_f1"), 0.5)
    counts = {"found_spans": 3, "true_spans": 4, "found_labels": 2, "true_labels": 2}
    return {
        "set": "s", "sequence": sequence, "method": method, "given": "both", "peer": peer or method,
        "status": status, "accuracy": accuracy, "seconds": "1.0", **values, **counts,
    }  # fmt: skip


def test_the_best_that_looks_and_finished_is_bold():
    given_rows = [
        make_row("equal split", 0.99), make_row("good", 0.8), make_row("equal split", 0.99, sequence="2"),
        make_row("good", 0.9, sequence="2"), make_row("late", 0.95),
        make_row("late", 0, status="over 5 s", sequence="2"), make_row("poor", 0.2),
        make_row("poor", 0.2, sequence="2"),
    ]  # fmt: skip
    text = table.write_tables(given_rows)
    assert "| good | **0.850** |" in text
    assert "| equal split | 0.990 |" in text
    assert "| late [50% done] | 0.950 |" in text
    assert "- late on 2: over 5 s" in text


def test_a_peer_is_shown_by_its_best_variant():
    given_rows = [make_row("a 1", 0.3, peer="a"), make_row("a 2", 0.6, peer="a"), make_row("b", 0.5)]
    assert table.best_variants(given_rows) == {"a": "a 2", "b": "b"}
    assert "| a 2 (best of 2) |" in table.write_tables(given_rows)


def test_found_labels_without_a_partner_have_no_colour():
    truth = np.array([0, 0, 0, 1, 1])
    assert match_labels(truth, np.array([2, 2, 5, 8, 8])).tolist() == [0, 0, -1, 1, 1]
