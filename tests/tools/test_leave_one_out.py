"""The choice of settings on sets left out, on made-up scores."""

import pytest
from benchmarks.quality import __main__ as command
from benchmarks.quality.leave_one_out import (
    average_sets,
    choose,
    choose_on_others,
    choose_with_hindsight,
    compare_methods,
    compare_with_peers,
    print_tables,
    summarise,
)

SETS = ("a", "b", "c")


def make_rows(setting, peer, scores, **changes):
    """Two recordings for each set, with scores a little above and below the one given."""
    return [
        {
            "set": name, "sequence": str(sign), "method": setting, "given": "both", "peer": peer,
            "status": "done", "true_spans": 7, "found_spans": 6,
            **dict.fromkeys(("accuracy", "covering", "boundary_f1", "nmi"), score + 0.01 * sign), **changes,
        }
        for name, score in zip(SETS, scores, strict=True)
        for sign in (-1, 1)
    ]  # fmt: skip


@pytest.fixture
def rows():
    """A peer whose settings win where the other fails, and seqspan with one setting."""
    return [
        *make_rows("steady", "peer", (0.6, 0.6, 0.6)),
        *make_rows("lucky", "peer", (0.9, 0.5, 0.5)),
        *make_rows("seqspan", "seqspan", (0.58, 0.5, 0.9)),
    ]


def test_a_set_counts_by_the_mean_over_its_recordings(rows):
    means = average_sets([row for row in rows if row["peer"] == "peer"], n_recordings=6)
    assert set(means) == {"steady", "lucky"}
    assert means["lucky"]["a"]["accuracy"] == pytest.approx(0.9)


def test_a_setting_that_lacks_a_recording_is_not_compared(rows):
    assert set(average_sets([row for row in rows if row["peer"] == "peer"][1:], 6)) == {"lucky"}
    assert average_sets(rows, 7) == {}


def test_the_rule_never_sees_the_set_left_out(rows):
    means = average_sets([row for row in rows if row["peer"] == "peer"], 6)
    # On b and c, steady is better; with a, which lucky is good at, lucky is.
    assert choose_on_others(means) == {"a": "steady", "b": "lucky", "c": "lucky"}
    assert choose_with_hindsight(means) == {"a": "lucky", "b": "steady", "c": "steady"}


@pytest.mark.parametrize(
    ("score", "winner"), [("accuracy", "y"), ("covering", "y"), ("boundary_f1", "y"), ("nmi", "x")]
)
def test_accuracy_covering_and_f1_decide_and_the_first_of_equals_is_taken(score, winner):
    level = dict.fromkeys(("accuracy", "covering", "boundary_f1", "nmi"), 0.5)
    assert choose({"x": {"a": level}, "y": {"a": {**level, score: 0.6}}}, ["a"]) == winner


@pytest.mark.parametrize(
    ("accuracy", "words"),
    [(0.58, "on 3 of 3 sets"), (0.56, "on 2 of 3 sets; behind on a (0.56; peer 0.60)")],
)
def test_seqspan_comes_first_and_is_compared_with_peers_set_by_set(rows, accuracy, words):
    of_peer = [row for row in rows if row["peer"] == "peer"]
    # By the rule, the peer reaches .6 on a and .5 on b and c.
    methods = compare_methods([*of_peer, *make_rows("seqspan", "seqspan", (accuracy, 0.5, 0.9))], 6)
    assert [method.name for method in methods] == ["seqspan", "peer"]
    assert compare_with_peers(methods[0], methods)[0].endswith(words)


def test_one_span_is_counted_only_where_many_are_true():
    rows = [
        *make_rows("m", "m", (0.5, 0.5, 0.5), found_spans=1)[:3],
        *make_rows("m", "m", (0.5, 0.5, 0.5), found_spans=1, true_spans=4)[3:5],
        *make_rows("m", "m", (0.5, 0.5, 0.5), status="over 5 s")[5:],
    ]
    (method,) = compare_methods(rows, 6)
    summary = summarise(method, rows)
    assert summary["one span where 5 or more are true"] == "3 of 4"
    assert (summary["settings compared"], summary["not finished"]) == (1, 1)
    assert summary["chosen (for sets)"] == "m (3)"


def test_the_tables_show_both_choices_and_what_is_missing(rows, capsys):
    ablation = make_rows("OSC + ncut", "seqspan, ncut", (1, 1, 1))
    absent = make_rows("gone", "gone", (1, 1, 1), status="not installed: gone")
    print_tables([*rows, *make_rows("late", "peer", (1, 1, 1))[1:], *ablation, *absent], 6)
    text = capsys.readouterr().out
    assert "## Numbers of spans and labels given" in text
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "|" in line]
    assert ["peer", "0.60", "0.50", "0.50", "0.533"] in lines
    assert ["peer, hindsight", "0.90", "0.60", "0.60", "0.700"] in lines
    assert ["seqspan", "0.58", "0.50", "0.90", "0.660"] in lines
    assert "not compared: peer (1)" in text
    assert "ncut" not in text
    assert "gone" not in text


def test_one_set_is_not_enough_to_leave_one_out(tmp_path, capsys):
    with pytest.raises(SystemExit):
        command.main(["--data", str(tmp_path), "--leave-one-out", "--sets", "keck", "film"])
    assert "two sets or more" in capsys.readouterr().err
