"""What methods reach on sets left out: the setting of each method is chosen on all other sets.

A method, such as KernelCPD or seqspan, has several settings: variants, penalties, constants. For each set,
the one with the highest mean of accuracy + covering + boundary F1 on the other sets is taken, where a set
counts by the mean over its recordings. With hindsight, it is chosen on that very set.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from benchmarks.common import print_table
from benchmarks.quality.methods import GIVEN
from benchmarks.quality.rows import Row
from benchmarks.quality.table import GIVEN_WORDS

OURS = "seqspan"
CHOOSE_BY = ("accuracy", "covering", "boundary_f1")
SHOWN = {"accuracy": "Accuracy", "covering": "Covering", "boundary_f1": "Boundary F1", "nmi": "NMI"}
NEAR = 0.03  # what a score may lie below the best peer's and still be near it
MANY_SPANS = 5  # true spans from which "one span" is no answer
#: Mean of each score over the recordings of a set, by setting and set.
Means = dict[str, dict[str, dict[str, float]]]


@dataclass(frozen=True)
class Method:
    """The settings of one method, with the one taken for each set.

    Parameters
    ----------
    name : str
    means : dict
        Mean scores by setting and set.
    rule : dict
        The setting chosen on the other sets, by set.
    hindsight : dict
        The setting that is best on the set itself, by set.
    """

    name: str
    means: Means
    rule: dict[str, str]
    hindsight: dict[str, str]

    def reach(self, score: str, taken: dict[str, str]) -> dict[str, float]:
        """Return a score on each set with the settings taken."""
        return {name: self.means[setting][name][score] for name, setting in taken.items()}


def print_tables(rows: list[Row], n_recordings: int) -> None:
    """Print all tables of scored rows: for each thing given, one table per score and a summary.

    Settings without a row for each of the recordings are left out.
    """
    for given in GIVEN:
        own = [row for row in rows if row["given"] == given and is_comparable(row)]
        if own:
            print(f"## {GIVEN_WORDS[given][0].upper()}{GIVEN_WORDS[given][1:]}\n")
            print_setting(own, n_recordings)


def is_comparable(row: Row) -> bool:
    """Say whether a row counts: an ablation of seqspan does not, nor a peer that is not installed."""
    return not row["peer"].startswith(f"{OURS}, ") and not row["status"].startswith("not installed")


def print_setting(rows: list[Row], n_recordings: int) -> None:
    """Print the tables of one thing given."""
    methods = compare_methods(rows, n_recordings)
    if methods:
        for score, words in SHOWN.items():
            print(f"{words}; first by the rule, then with hindsight\n")
            print_table([*table_lines(methods, score, "rule"), *table_lines(methods, score, "hindsight")])
        print_table([summarise(method, rows) for method in methods])
    for method in methods:
        if method.name == OURS:
            print("\n".join(compare_with_peers(method, methods)), end="\n\n")
    compared = {setting for method in methods for setting in method.means}
    missing = Counter(
        peer for peer, setting in {(row["peer"], row["method"]) for row in rows} if setting not in compared
    )
    if missing:
        words = ", ".join(f"{peer} ({number})" for peer, number in sorted(missing.items()))
        print(f"Settings that were not run on all recordings, and are not compared: {words}\n")


def compare_methods(rows: list[Row], n_recordings: int) -> list[Method]:
    """Choose the settings of every method; seqspan comes first."""
    by_peer: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_peer[row["peer"]].append(row)
    methods = []
    for peer in sorted(by_peer, key=lambda name: (name != OURS, name.lower())):
        means = average_sets(by_peer[peer], n_recordings)
        if means:
            methods.append(Method(peer, means, choose_on_others(means), choose_with_hindsight(means)))
    return methods


def average_sets(rows: list[Row], n_recordings: int) -> Means:
    """Average the scores of each setting over the recordings of each set.

    Settings that were not run on all recordings are left out.
    """
    by_setting: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_setting[row["method"]][row["set"]].append(row)
    return {
        setting: {
            name: {score: float(np.mean([row[score] for row in own])) for score in SHOWN}
            for name, own in by_set.items()
        }
        for setting, by_set in sorted(by_setting.items())  # so that equals do not depend on the order of runs
        if sum(map(len, by_set.values())) == n_recordings
    }


def choose(means: Means, sets: list[str]) -> str:
    """Return the setting with the best mean over some sets; the first of several that are as good."""

    def merit(setting: str) -> float:
        return float(np.mean([means[setting][name][score] for name in sets for score in CHOOSE_BY]))

    return max(means, key=merit)


def choose_on_others(means: Means) -> dict[str, str]:
    """Choose the setting for each set on all others."""
    sets = list(next(iter(means.values())))
    return {left_out: choose(means, [name for name in sets if name != left_out]) for left_out in sets}


def choose_with_hindsight(means: Means) -> dict[str, str]:
    """Choose the setting for each set on that very set."""
    return {name: choose(means, [name]) for name in next(iter(means.values()))}


def table_lines(methods: list[Method], score: str, how: str) -> list[dict[str, str]]:
    """Write one line per method: its score on every set, and the mean."""
    lines = []
    for method in methods:
        if how == "hindsight" and len(method.means) == 1:
            continue  # the same as by the rule
        reached = method.reach(score, getattr(method, how))
        name = method.name if how == "rule" else f"{method.name}, hindsight"
        cells = {each: f"{value:.2f}" for each, value in reached.items()}
        lines.append({"method": name, **cells, "mean": f"{np.mean(list(reached.values())):.3f}"})
    return lines


def summarise(method: Method, rows: list[Row]) -> dict[str, object]:
    """Describe a method's settings, and how often it found one span where there are many."""
    taken = [row for row in rows if method.rule.get(row["set"]) == row["method"]]
    many = [row for row in taken if row["true_spans"] >= MANY_SPANS]
    chosen = Counter(method.rule.values()).most_common()
    return {
        "method": method.name,
        "settings compared": len(method.means),
        f"one span where {MANY_SPANS} or more are true": (
            f"{sum(row['found_spans'] == 1 for row in many)} of {len(many)}"
        ),
        "not finished": sum(row["status"] != "done" for row in taken),
        "chosen (for sets)": "; ".join(f"{setting} ({times})" for setting, times in chosen),
    }


def compare_with_peers(ours: Method, methods: list[Method]) -> list[str]:
    """Say for each score on how many sets we are the best, or near the best peer chosen by the rule."""
    peers = [method for method in methods if method is not ours]
    lines = []
    for score, words in SHOWN.items():
        own = ours.reach(score, ours.rule)
        others = {peer.name: peer.reach(score, peer.rule) for peer in peers}
        if not others:
            continue
        behind = []
        for name, value in own.items():
            best = max(others, key=lambda peer: others[peer][name])
            if value < others[best][name] - NEAR:
                behind.append(f"{name} ({value:.2f}; {best} {others[best][name]:.2f})")
        near = len(own) - len(behind)
        text = f"{words}: {OURS} is the best or within {NEAR:g} of the best peer on {near} of {len(own)} sets"
        lines.append(f"- {text}{'; behind on ' + ', '.join(behind) if behind else ''}")
    return lines
