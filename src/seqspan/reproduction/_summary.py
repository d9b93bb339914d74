"""Plain words about rows: where they agree with the paper's claims and where not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from seqspan.reproduction._figures import NAMES
from seqspan.reproduction._methods import METHODS, VARIANTS, Weights
from seqspan.reproduction._study import Line, Study
from seqspan.reproduction._tables import error_table, level_name, markdown, statistics

Known = Mapping[tuple[float, float, str], float]

CLEAR = 2.0  # standard errors from which on a difference is called one
SMALL = 0.005  # half a sample of a hundred: below, methods are level whatever the standard error
KNOWN_REPEATS = 20
AT_ZERO = 50.0  # the objective of Z = 0 with 100 unit columns; above it, an iteration has diverged
CUTS = {"error": "plain cut", "error_linked": "neighbours linked", "error_toolbox": "MATLAB code's"}
COMPARED = (*CUTS.values(), "Z ≥ 0")
CLAIM = "OSC outperforms SpatSC, LRR and SSC in the majority of cases"


def summarise_synthetic(title: str, table: pl.DataFrame, tuned: Mapping[Line, Weights], known: Known) -> str:
    """Sum up an experiment on made data.

    Parameters
    ----------
    title : str
    table : rows of the figures
    tuned : mapping
        The weights that the search found.
    known : mapping
        Mean errors to compare with.

    Returns
    -------
    str
        Markdown.
    """
    parts = [f"# {title}"]
    for mean in sorted(set(table["coefficient_mean"]), reverse=True):
        rows = table.filter(pl.col("coefficient_mean") == mean)
        parts += [f"## Coefficients of mean {mean:g}", *curves(rows, mean, "", tuned)]
        parts += [*_against_known(rows, {key[1:]: value for key, value in known.items() if key[0] == mean})]
        parts += [*_of_variants(rows), *_of_cuts(rows)]
    return "\n\n".join(parts) + "\n"


def curves(rows: pl.DataFrame, mean: float | None, pool: str, tuned: Mapping[Line, Weights]) -> list[str]:
    """Tables of mean errors, with what they say about the claim."""
    parts = []
    for parameters in ("paper", "tuned"):
        chosen = rows.filter(pl.col("parameters") == parameters)
        if chosen.is_empty():
            continue
        weights = {
            m: tuned[mean, pool, m] for m in METHODS if parameters == "tuned" and (mean, pool, m) in tuned
        }
        shown = ", ".join(f"{NAMES[m]} {_weights(w)}" for m, w in weights.items())
        repeats = int(statistics(chosen)["count"].max() or 0)  # type: ignore[arg-type]
        head = "The paper's weights" if parameters == "paper" else f"Tuned weights ({shown})"
        parts += [
            f"{head}; {repeats} runs per number:",
            error_table(chosen, parameters, METHODS),
            verdict(chosen),
        ]
    return parts


def _weights(weights: Weights) -> str:
    return " / ".join(f"{weight:g}" for weight in weights if weight is not None)


def verdict(rows: pl.DataFrame) -> str:
    """Compare OSC with each rival at each level, and judge the paper's claim."""
    told, ahead, behind, total = _comparison(rows)
    return (
        f"OSC is {told}. Of {total} comparisons {ahead} are clearly for OSC, {behind} against it, "
        f"{total - ahead - behind} level. "
        f"**The paper's claim (“{CLAIM}”) {_judgement(rows, ahead, behind)}.**"
    )


def _comparison(rows: pl.DataFrame) -> tuple[str, int, int, int]:
    """Where OSC stands, in words, and how often it is ahead and behind in how many comparisons."""
    standing = {
        (level, rival): found
        for level in sorted(set(rows["psnr_target"]), reverse=True)
        for rival in METHODS[1:]
        if (found := _standing(rows.filter(pl.col("psnr_target") == level), rival))
    }
    told = []
    for state in ("ahead of", "level with", "behind"):
        for rival in METHODS[1:]:
            levels = [level for (level, other), found in standing.items() if (other, found) == (rival, state)]
            if levels:
                told.append(f"{state} {NAMES[rival]} at {_levels(levels)}")
    ahead, behind = (list(standing.values()).count(state) for state in ("ahead of", "behind"))
    return "; ".join(told) or "not compared yet", ahead, behind, len(standing)


def _judgement(rows: pl.DataFrame, ahead: int, behind: int) -> str:
    """Judge the claim by the comparisons in which someone errs: elsewhere there is nothing to win."""
    means = _lookup(statistics(rows))
    errs = [
        max(means["osc", level]["mean"], means[rival, level]["mean"]) > SMALL
        for method, level in means
        if method == "osc"
        for rival in METHODS[1:]
        if (rival, level) in means
    ]
    contested = sum(errs)
    if ahead <= behind:
        return "does not hold" if behind else "is undecided: no method is clearly better anywhere"
    if ahead <= contested / 2:
        return (
            f"holds in part: OSC is clearly better in {ahead} of the {contested} comparisons with any error"
        )
    return f"holds: OSC is clearly better in {ahead} of the {contested} comparisons with any error"


def _standing(rows: pl.DataFrame, rival: str) -> str:
    """Say where OSC stands at one level: paired differences against their standard error; "" without any."""
    names = ["seed", "recording"]
    ours = rows.filter(pl.col("method") == "osc").select(*names, ours="error")
    theirs = rows.filter(pl.col("method") == rival).select(*names, theirs="error")
    both = ours.join(theirs, on=names)
    difference = (both["theirs"] - both["ours"]).to_numpy()
    if len(difference) == 0:
        return ""
    margin = max(
        CLEAR * float(np.std(difference, ddof=1 if len(difference) > 1 else 0)) / len(difference) ** 0.5,
        SMALL,
    )
    found = float(np.mean(difference))
    return "ahead of" if found > margin else "behind" if found < -margin else "level with"


def _levels(levels: list[float]) -> str:
    """List levels as words."""
    finite = [f"{level:g}" for level in levels if np.isfinite(level)]
    named = [f"{', '.join(finite)} dB"] if finite else []
    return " and ".join((["no noise"] if len(finite) < len(levels) else []) + named)


def _against_known(rows: pl.DataFrame, known: Mapping[tuple[float, str], float]) -> list[str]:
    """Compare with figures measured before, for each of the three cuts."""
    paper = rows.filter(pl.col("parameters") == "paper")
    found = {name: _lookup(statistics(paper, name)) for name in CUTS}
    lines = []
    for (level, method), value in known.items():
        if (method, level) not in found["error"]:
            continue
        cells = {CUTS[name]: found[name][method, level] for name in CUTS}
        if (f"{method}_nonnegative", level) in found["error"]:
            cells["Z ≥ 0"] = found["error"][f"{method}_nonnegative", level]
        ours = [f"{cells[n]['mean']:.3f} ± {cells[n]['se']:.3f}" if n in cells else "" for n in COMPARED]
        agrees = [name for name, cell in cells.items() if _agrees(cell, value)]
        lines.append([method, level_name(level), f"{value:.3f}", *ours, ", ".join(agrees) or "none"])
    if not lines:
        return []
    return [
        "Against mean errors known before (another solver and cut, 20 repeats of their own), with the "
        "paper's weights, for three cuts, and for the plain cut with Z ≥ 0; ± is a standard error, and "
        "figures within two of both agree:",
        markdown(["method", "level", "known", *COMPARED, "agrees with"], lines),
    ]


def _lookup(found: pl.DataFrame) -> dict[tuple[str, float], dict[str, float]]:
    return {(row["method"], row["psnr_target"]): row for row in found.iter_rows(named=True)}


def _agrees(cell: Mapping[str, float], known: float) -> bool:
    """Whether a mean and a known one, with as large a spread over fewer repeats, differ by chance alone."""
    spread = cell["se"] * cell["count"] ** 0.5
    tolerance = CLEAR * np.hypot(cell["se"], spread / KNOWN_REPEATS**0.5)
    return bool(abs(cell["mean"] - known) <= max(tolerance, SMALL))


def _of_variants(rows: pl.DataFrame) -> list[str]:
    """What Z >= 0 does, and the authors' iteration."""
    paper = rows.filter(pl.col("parameters") == "paper")
    if not set(VARIANTS) <= set(paper["method"]):
        return []
    draws = paper.filter(pl.col("method") == VARIANTS[0]).select("seed", "psnr_target")
    paper = paper.join(draws, on=["seed", "psnr_target"], how="semi")  # all methods on the same draws
    strongest = min(paper["psnr_target"])
    told = _of_signs(_lookup(statistics(paper)), strongest)
    return [
        f"**Z ≥ 0**, which the authors' code keeps and the paper does not state: at {level_name(strongest)} "
        f"{told}. On the {len(draws.filter(pl.col('psnr_target') == strongest))} draws that the variants "
        "were given:",
        error_table(paper, "paper", ("osc", "spatsc", "ssc", *VARIANTS)),
        _of_divergence(paper),
    ]


def _of_signs(found: Mapping[tuple[str, float], Mapping[str, float]], level: float) -> str:
    """Say what Z >= 0 does to the error of each method at one level."""
    told = []
    for method in ("osc", "spatsc", "ssc"):
        free, held = found[method, level], found[f"{method}_nonnegative", level]
        margin = max(SMALL, CLEAR * float(np.hypot(free["se"], held["se"])))
        gained = free["mean"] - held["mean"]
        change = "does not clearly change" if abs(gained) < margin else "lowers" if gained > 0 else "raises"
        numbers = f"{free['mean']:.3f} without, {held['mean']:.3f} with"
        told.append(f"it {change} the error of {NAMES[method]} ({numbers})")
    return "; ".join(told)


def _of_divergence(paper: pl.DataFrame) -> str:
    """Say how often the authors' iteration of OSC ends above the objective of Z = 0, or nowhere."""
    coded = paper.filter(pl.col("method") == "osc_as_coded").group_by("psnr_target")
    found = coded.agg(share=(~(pl.col("objective") <= AT_ZERO)).mean(), error=pl.col("error").mean())
    told = [
        f"{level_name(row['psnr_target'])}: {row['share']:.0%}, error {row['error']:.3f}"
        for row in found.sort("psnr_target", descending=True).iter_rows(named=True)
        if row["share"] > 0
    ]
    head = "The authors' iteration (`as_coded`: Z ≥ 0, a step size without mu‖R‖², at most 200 iterations) "
    if not told:
        return f"{head}does not diverge on these draws."
    return (
        f"{head}**diverges**, ending above the objective of Z = 0, in this share of runs: {'; '.join(told)}. "
        "A converged OSC has no such trouble: what the paper says of OSC at strong noise holds for its "
        "minimum rather than for the code."
    )


def _of_cuts(rows: pl.DataFrame) -> list[str]:
    """What the choice of the cut does at the strongest noise."""
    paper = rows.filter(pl.col("parameters") == "paper")
    levels = sorted(set(paper["psnr_target"]))[:2][::-1]
    found = {name: _lookup(statistics(paper, name)) for name in CUTS}
    lines = [
        [NAMES[method], level_name(level), *(f"{found[name][method, level]['mean']:.3f}" for name in CUTS)]
        for level in levels
        for method in METHODS
    ]
    told = _comparison(paper.with_columns(error="error_toolbox"))[0]
    return [
        "The cut matters too. Curves and tables above use the plain normalised cut. seqspan's own ties "
        "neighbours in time by 1 %, which helps methods that do not know the order; the MATLAB code that the "
        "authors used adds a constant to all degrees, which costs where coefficients are small:",
        markdown(["mean error", "level", *CUTS.values()], lines),
        f"With the MATLAB code's cut, OSC is {told}.",
    ]


def summarise_recordings(
    title: str, caveat: str, table: pl.DataFrame, study: Study, search: pl.DataFrame
) -> str:
    """Sum up an experiment on real recordings, pool by pool.

    Parameters
    ----------
    title, caveat : str
    table : rows of the figures
    study : Study
    search : rows of the search for weights

    Returns
    -------
    str
        Markdown.
    """
    parts, tuned = [f"# {title}", caveat], study.tuned(search)
    pools = table["recording"].map_elements(study.pool, return_dtype=pl.String)
    for pool in dict.fromkeys(pools):
        rows = table.filter(pools == pool)
        count = rows["recording"].n_unique()
        parts += [f"## {pool}: {count} recordings", *curves(rows, None, pool, tuned), *_of_cuts(rows)]
    return "\n\n".join(parts) + "\n"
