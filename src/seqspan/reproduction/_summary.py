"""A summary in words: where the rows agree with the paper's claims and where they do not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from seqspan._core.text import count_of
from seqspan.reproduction._methods import METHODS, NAMES, VARIANTS, Weights
from seqspan.reproduction._tables import compute_statistics, format_errors, format_table, name_level

#: Mean errors measured earlier, by PSNR in dB and method.
Known = Mapping[tuple[float, str], float]

CLEAR = 2.0  # standard errors; a larger difference is called clear
SMALL = 0.005  # share of samples; a smaller difference is never called clear
KNOWN_REPEATS = 20  # runs behind each known error
AT_ZERO = 50.0  # objective of Z = 0 with 100 unit columns; an iteration that ends above it has diverged
CUTS = {"error": "plain cut", "error_linked": "neighbours linked", "error_toolbox": "MATLAB code's"}
NONNEGATIVE = "Z ≥ 0"
COMPARED = (*CUTS.values(), NONNEGATIVE)
CLAIM = "OSC outperforms SpatSC, LRR and SSC in the majority of cases"


def describe_panel(rows: pl.DataFrame, tuned: Mapping[str, Weights], known: Known) -> list[str]:
    """Describe the rows of one panel.

    Parameters
    ----------
    rows : table
    tuned : mapping of method to weights
        What the search found.
    known : mapping of (level, method) to mean error
        Earlier results to compare with.

    Returns
    -------
    list of str
        Paragraphs and tables in Markdown.
    """
    paper = rows.filter(pl.col("parameters") == "paper")
    return [
        *_describe_errors(rows, tuned),
        *_compare_with_known(paper, known),
        *_describe_variants(paper),
        *_compare_cuts(paper),
    ]


def _describe_errors(rows: pl.DataFrame, tuned: Mapping[str, Weights]) -> list[str]:
    """Tables of mean errors, and what they say about the paper's claim."""
    shown = ", ".join(f"{NAMES[m]} {_format_weights(tuned[m])}" for m in METHODS if m in tuned)
    parts = []
    for parameters, weights in (("paper", "the paper's weights"), ("tuned", f"tuned weights ({shown})")):
        chosen = rows.filter(pl.col("parameters") == parameters)
        if not chosen.is_empty():
            repeats = int(compute_statistics(chosen)["count"].max() or 0)  # type: ignore[arg-type]
            parts += [
                f"With {weights}, {count_of(repeats, 'run')} per number:",
                format_errors(chosen, METHODS),
                judge_claim(chosen),
            ]
    return parts


def _format_weights(weights: Weights) -> str:
    """One or two weights."""
    return " / ".join(f"{weight:g}" for weight in weights if weight is not None)


def judge_claim(rows: pl.DataFrame) -> str:
    """Compare OSC with each rival at each level, and judge the paper's claim."""
    standings, ahead, behind, total = _compare_with_rivals(rows)
    return (
        f"OSC is {standings}. Of {total} comparisons, OSC clearly wins {ahead} and clearly loses {behind}. "
        f"**The paper's claim (“{CLAIM}”) {_judge(rows, ahead, behind)}.**"
    )


def _compare_with_rivals(rows: pl.DataFrame) -> tuple[str, int, int, int]:
    """Where OSC stands, in words; how often it is ahead and behind; the number of comparisons."""
    standing = {
        (level, rival): found
        for level in sorted(set(rows["psnr_target"]), reverse=True)
        for rival in METHODS[1:]
        if (found := _rank_against(rows.filter(pl.col("psnr_target") == level), rival))
    }
    phrases = []
    for state in ("ahead of", "level with", "behind"):
        for rival in METHODS[1:]:
            levels = [level for (level, other), found in standing.items() if (other, found) == (rival, state)]
            if levels:
                phrases.append(f"{state} {NAMES[rival]} {_list_levels(levels)}")
    ahead, behind = (list(standing.values()).count(state) for state in ("ahead of", "behind"))
    return "; ".join(phrases) or "not compared yet", ahead, behind, len(standing)


def _judge(rows: pl.DataFrame, ahead: int, behind: int) -> str:
    """Judge the claim by the comparisons in which a method makes errors: the others decide nothing."""
    means = _look_up(rows, "error")
    contested = sum(
        max(means["osc", level]["mean"], means[rival, level]["mean"]) > SMALL
        for method, level in means
        if method == "osc"
        for rival in METHODS[1:]
        if (rival, level) in means
    )
    if ahead <= behind:
        return "does not hold" if behind else "is undecided: no method is clearly better anywhere"
    part = " in part" if ahead <= contested / 2 else ""
    return f"holds{part}: OSC clearly wins {ahead} of the {contested} comparisons with errors"


def _rank_against(rows: pl.DataFrame, rival: str) -> str:
    """Compare OSC with a rival at one level by paired differences; "" if there are none."""
    names = ["seed", "recording"]
    ours = rows.filter(pl.col("method") == "osc").select(*names, ours="error")
    theirs = rows.filter(pl.col("method") == rival).select(*names, theirs="error")
    both = ours.join(theirs, on=names)
    difference = (both["theirs"] - both["ours"]).to_numpy()
    if len(difference) == 0:
        return ""
    spread = float(np.std(difference, ddof=1 if len(difference) > 1 else 0))
    margin = max(CLEAR * spread / len(difference) ** 0.5, SMALL)
    gain = float(np.mean(difference))
    return "ahead of" if gain > margin else "behind" if gain < -margin else "level with"


def _list_levels(levels: list[float]) -> str:
    """List levels in words.

    Examples
    --------
    >>> _list_levels([float("inf"), 13.0, 10.0, 7.0])
    'without noise and at 13, 10 and 7 dB'
    """
    finite = [f"{level:g}" for level in levels if np.isfinite(level)]
    listed = " and ".join(filter(None, [", ".join(finite[:-1]), *finite[-1:]]))
    return " and ".join(
        (["without noise"] if np.inf in levels else []) + ([f"at {listed} dB"] if listed else [])
    )


def _compare_with_known(paper: pl.DataFrame, known: Known) -> list[str]:
    """Compare each of the three cuts with earlier results."""
    found = {column: _look_up(paper, column) for column in CUTS}
    lines = []
    for (level, method), value in known.items():
        if (method, level) not in found["error"]:
            continue
        cells = {name: found[column][method, level] for column, name in CUTS.items()}
        if (f"{method}_nonnegative", level) in found["error"]:
            cells[NONNEGATIVE] = found["error"][f"{method}_nonnegative", level]
        ours = [f"{cells[n]['mean']:.3f} ± {cells[n]['se']:.3f}" if n in cells else "" for n in COMPARED]
        agreeing = [name for name, cell in cells.items() if _agrees(cell, value)]
        lines.append([method, name_level(level), f"{value:.3f}", *ours, ", ".join(agreeing) or "none"])
    if not lines:
        return []
    return [
        "Compared with earlier results (mean errors of another solver and cut over "
        f"{KNOWN_REPEATS} repeats of their own), with the paper's weights, for three cuts, and for the plain "
        "cut with Z ≥ 0. ± is one standard error; two results agree if they differ by less than two standard "
        "errors of the difference:",
        format_table(["method", "level", "known", *COMPARED, "agrees with"], lines),
    ]


def _look_up(rows: pl.DataFrame, column: str) -> dict[tuple[str, float], dict[str, float]]:
    """Statistics by method and level."""
    found = compute_statistics(rows, column)
    return {(row["method"], row["psnr_target"]): row for row in found.iter_rows(named=True)}


def _agrees(cell: Mapping[str, float], known: float) -> bool:
    """Whether a mean agrees with a known one, assuming the same spread over its repeats."""
    spread = cell["se"] * cell["count"] ** 0.5
    tolerance = CLEAR * np.hypot(cell["se"], spread / KNOWN_REPEATS**0.5)
    return bool(abs(cell["mean"] - known) <= max(tolerance, SMALL))


def _describe_variants(paper: pl.DataFrame) -> list[str]:
    """What Z >= 0 changes, and the authors' iteration."""
    if not set(VARIANTS) <= set(paper["method"]):
        return []
    draws = paper.filter(pl.col("method") == VARIANTS[0]).select("seed", "psnr_target")
    paper = paper.join(draws, on=["seed", "psnr_target"], how="semi")  # all methods on the same draws
    strongest = min(paper["psnr_target"])
    n_draws = len(draws.filter(pl.col("psnr_target") == strongest))
    return [
        "**Z ≥ 0** is a constraint in the authors' code that the paper does not state. At "
        f"{name_level(strongest)} {_describe_constraint(paper, strongest)}. Mean errors on the "
        f"{count_of(n_draws, 'draw')} of each level on which the variants ran:",
        format_errors(paper, ("osc", "spatsc", "ssc", *VARIANTS)),
        _describe_divergence(paper),
    ]


def _describe_constraint(paper: pl.DataFrame, level: float) -> str:
    """Say what Z >= 0 does to the error of each method at one level."""
    found, phrases = _look_up(paper, "error"), []
    for method in ("osc", "spatsc", "ssc"):
        free, constrained = found[method, level], found[f"{method}_nonnegative", level]
        margin = max(SMALL, CLEAR * float(np.hypot(free["se"], constrained["se"])))
        gain = free["mean"] - constrained["mean"]
        change = "does not clearly change" if abs(gain) < margin else "lowers" if gain > 0 else "raises"
        numbers = f"{free['mean']:.3f} without, {constrained['mean']:.3f} with"
        phrases.append(f"it {change} the error of {NAMES[method]} ({numbers})")
    return "; ".join(phrases)


def _describe_divergence(paper: pl.DataFrame) -> str:
    """Say how often the authors' iteration of OSC ends above the objective of Z = 0, or at no number."""
    coded = paper.filter(pl.col("method") == "osc_as_coded").group_by("psnr_target")
    found = coded.agg(share=(~(pl.col("objective") <= AT_ZERO)).mean(), error=pl.col("error").mean())
    shares = [
        f"{row['share']:.0%} at {name_level(row['psnr_target'])} (mean error {row['error']:.3f})"
        for row in found.sort("psnr_target", descending=True).iter_rows(named=True)
        if row["share"] > 0
    ]
    subject = "The authors' iteration (`as_coded`: Z ≥ 0, a step without mu‖R‖², at most 200 iterations)"
    if not shares:
        return f"{subject} does not diverge on these draws."
    return (
        f"{subject} **diverges** in some runs, ending above the objective of Z = 0: {', '.join(shares)}. A "
        "converged OSC does not have this problem: what the paper says about OSC under strong noise holds "
        "for the minimum, not for this code."
    )


def _compare_cuts(paper: pl.DataFrame) -> list[str]:
    """What the choice of the cut changes under the strongest noise."""
    levels = sorted(set(paper["psnr_target"]))[:2][::-1]
    found = {column: _look_up(paper, column) for column in CUTS}
    lines = [
        [
            NAMES[method],
            name_level(level),
            *(f"{found[column][method, level]['mean']:.3f}" for column in CUTS),
        ]
        for level in levels
        for method in METHODS
        if (method, level) in found["error"]
    ]
    standings = _compare_with_rivals(paper.with_columns(error="error_toolbox"))[0]
    return [
        "The cut matters too. The tables above and the figures use the plain normalised cut. seqspan's own "
        "cut links neighbours in time by 1 % of the mean degree, which helps methods that do not know the "
        "order of time. The MATLAB code that the authors used adds a constant to all degrees, which hurts "
        "where coefficients are small:",
        format_table(["mean error", "level", *CUTS.values()], lines),
        f"With the MATLAB code's cut, OSC is {standings}.",
    ]
