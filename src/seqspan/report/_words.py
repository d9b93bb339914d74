"""The sentences in the report."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqspan._core.dates import PER_SECOND
from seqspan._core.spans import UNKNOWN, edge_times
from seqspan._core.text import count_of, name_label, noun_of, percent, plural_of, printable
from seqspan.cuts.spectral.n_subspaces import soft_scores
from seqspan.report._content import Content

MIN_CLEAR_CONFIDENCE = 0.8  # boundaries with this confidence or more are called clear
MIN_LIKELY_CONFIDENCE = 0.5  # boundaries with a lower confidence are called uncertain
SHORT = 120.0  # seconds; shorter recordings are not described in minutes
N_ALTERNATIVES = 2  # other numbers of labels to mention
N_RETURNING = 4  # labels that return to mention
# log Bayes factors in nats and what they are called [Kass & Raftery 1995, Sec. 3.2]
GRADES = ((5.0, "very strong evidence"), (3.0, "strong evidence"), (1.0, "some evidence"))
WEAKEST = "hardly any evidence"


def describe_facts(content: Content, spectrum: list[float]) -> dict[str, Any]:
    """What was found, how sure it is, and why this number of labels."""
    facts = {
        "size": describe_size(content),
        "headline": describe_found(content),
        "returning": describe_returning(content),
        "uncertain": describe_uncertain(content),
        "scores": describe_scores(content),
    }
    if not content.is_solved:
        return facts | {"support": describe_unknown(content), "certificate": describe_source(content)}
    return facts | {
        "one_span": describe_one_span(content),
        "support": describe_support(content),
        "number": describe_number(content, spectrum),
        "certificate": describe_certificate(content),
        "objective": describe_objective(content),
    }


def describe_size(content: Content) -> str:
    """How long the recording is."""
    recording = content.recording
    noun = {"video": "frames", "mocap": "poses", "spectra": "spectra"}.get(recording.kind, "samples")
    edges = [edge_times(part) for part in np.split(recording.times, recording.joins)]
    total = float(sum(part[-1] - part[0] for part in edges))
    length = "" if recording.time_unit == "sample" else f", {_length(total, recording.time_unit)}"
    return printable(
        f"{len(recording):,} {noun}{length}{_beginning(content)}, {recording.X.shape[1]:,} values each"
    )


def _length(total: float, unit: str) -> str:
    """A length in words that people use: "38.2 s", "32 min 28 s", "5 h 33 min", "2.5 m".

    Examples
    --------
    >>> _length(38.1583, "s"), _length(1948300.0, "ms"), _length(2.5, "m")
    ('38.2 s', '32 min 28 s', '2.5 m')
    """
    seconds = total / PER_SECOND.get(unit, np.inf)
    if seconds < SHORT:
        return f"{seconds:.3g} s" if seconds >= 1 else f"{total:.6g} {unit}"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60:,} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s"


def _beginning(content: Content) -> str:
    """The date at which a recording begins, with its zone; nothing if it has no dates."""
    dates = content.recording.calendar
    if dates is None or content.several:
        return ""
    text = np.datetime_as_string(dates.local()[:1], "s")[0].replace("T", " ")
    return f" from {text} {dates.zone}".rstrip()


def describe_found(content: Content) -> str:
    """How many spans and labels there are."""
    noun = noun_of(content.recording.kind)
    spans = count_of(len(content.found.boundaries) + 1, "span")
    unknown = ", some unknown" if np.any(content.found.labels == UNKNOWN) else ""
    return f"{spans} of {count_of(content.found.n_subspaces, noun)}{unknown}"


def describe_unknown(content: Content) -> str:
    """How much of a recording no known label fits."""
    noun, share = noun_of(content.recording.kind), float(np.mean(content.found.labels == UNKNOWN))
    if not share:
        return f"Every sample fits a known {noun}."
    return f"{percent(share)} of the samples fit no known {noun}."


def describe_source(content: Content) -> str:
    """Where known labels come from."""
    nouns = plural_of(noun_of(content.recording.kind))
    source = content.document.get("states", {}).get("path")
    known = f"those of {printable(source)}" if source else "known"
    return f"The {nouns} were {known}. Nothing was solved: each span has the one that describes it best."


def describe_returning(content: Content) -> str:
    """Which labels return, those with most spans first."""
    starts = np.concatenate([[0], content.found.boundaries])
    spans = content.found.labels[starts]
    counts = np.bincount(spans[spans != UNKNOWN])
    returning = [int(label) for label in np.argsort(-counts, kind="stable") if counts[label] > 1]
    if len(starts) == 1:
        return ""
    if not returning:
        return f"No {noun_of(content.recording.kind)} returns."
    named = [f"{_title(content, label)} ({counts[label]} spans)" for label in returning[:N_RETURNING]]
    more = len(returning) - len(named)
    listed = ", ".join([*named, f"and {more} more"] if more else named)
    return f"{'One returns' if len(returning) == 1 else f'{len(returning)} return'}: {listed}."


def _title(content: Content, label: int) -> str:
    """The name that the user gave to a label, or its letters."""
    given = content.document.get("label_names", ())
    return printable(given[label]) if label < len(given) and given[label] else name_label(label)


def describe_one_span(content: Content) -> dict[str, Any] | None:
    """What it means that there is one span, and what to try; None if there are more."""
    if len(content.found.boundaries):
        return None
    settings = content.document.get("settings", {})
    if "1" in (str(settings.get("spans")), str(settings.get("subspaces"))):
        meaning = "One span was requested, so the recording was not divided."
        return {"meaning": meaning, "hints": ["Give no number, and it is found."]}
    meaning = (
        "One span means that nothing was found to change: dividing the recording explains no more than "
        "dividing recordings of the same kind in which nothing happens. It does not prove that nothing "
        "happens."
    )
    finer = "Try --grain fine, which asks for less evidence before it starts a new span."
    hints = [
        *([finer] if content.cut == "ordered" else []),
        "If you know about how many spans there are, say so with --spans. Their confidence tells whether "
        "they are real.",
        "Leave out features that are noise or that drift; a few that show the change are worth more than "
        "many that do not.",
        f"Check that the input was read as you expect: {describe_size(content)}.",
    ]
    return {"meaning": meaning, "hints": hints}


def describe_certificate(content: Content) -> str:
    """How far the solution is from the optimum at most, in one line that says what it is not."""
    gap = content.solution.gap
    near = "reached the optimum" if gap <= 1e-9 else f"stopped within {100 * gap:.2g} % of the optimum"
    return (
        f"Optimisation: the solver {near}, with certificate. That is about its arithmetic; it does not say "
        "how good the spans are."
    )


def describe_objective(content: Content) -> str:
    """The objective and its lower bound."""
    solution = content.solution
    if solution.gap <= 1e-9:
        return f"The objective is {solution.objective:.6g}, the minimum."
    lowest = solution.objective * (1 - solution.gap)
    return f"The objective is {solution.objective:.6g}, and no coefficients can bring it below {lowest:.6g}."


def describe_support(content: Content) -> str:
    """How much speaks for the number of labels, without numbers."""
    k, first = content.found.n_subspaces, _number_found(content)
    evidence = content.label_evidence if content.cut == "ordered" else np.empty(0)
    if k < 2 or k - 2 >= len(evidence):
        return first
    noun = noun_of(content.recording.kind)
    text = f"There is {_grade(evidence[k - 2])} for {k} {plural_of(noun)} rather than {k - 1}"
    if k > len(evidence):
        return f"{first} {text}."
    further = f"another {noun}"
    return f"{first} {text}, and {_grade(evidence[k - 1], none=True)} for {further}."


def _grade(evidence: float, *, none: bool = False) -> str:
    """Evidence in words."""
    if none and evidence <= 0:
        return "none"
    return next((words for least, words in GRADES if evidence >= least), WEAKEST)


def describe_number(content: Content, spectrum: list[float]) -> str:
    """Why this number of labels, and which other numbers come close."""
    first = _number_found(content)
    if content.cut == "ordered":
        return f"{first} {describe_label_evidence(content)}".rstrip()
    return first + describe_alternatives(content.found.n_subspaces, spectrum)


def _number_found(content: Content) -> str:
    """How many labels there are, and who said so."""
    given = content.document.get("settings", {}).get("subspaces", "auto")
    k = content.found.n_subspaces
    noun = "span" if content.cut == "peaks" else noun_of(content.recording.kind)
    subject = f"{count_of(k, noun)} {'was' if k == 1 else 'were'}"
    if content.cut == "peaks":
        return f"{subject} found at the peaks of the boundary strength."
    if str(given).isdecimal():
        return f"{subject} requested."
    if content.cut == "ordered":
        return f"{subject} found."
    return f"{subject} chosen by the rule “{printable(str(given))}”."


def describe_alternatives(k: int, spectrum: list[float]) -> str:
    """Score of the chosen number, and the numbers with the next best scores."""
    scores = soft_scores(spectrum)
    others = [number for number in np.argsort(-scores, kind="stable") + 1 if number != k][:N_ALTERNATIVES]
    if not others:
        return ""
    listed = " and ".join(f"{number} (score {scores[number - 1]:.2g})" for number in others)
    own = f" Its gap scores {scores[k - 1]:.2g};" if 1 <= k <= len(scores) else ""
    return f"{own} the runners-up are {listed}: try them with the slider."


def describe_label_evidence(content: Content) -> str:
    """Evidence for the last label that the ordered cut kept, and for one additional label."""
    k, evidence = content.found.n_subspaces, content.label_evidence
    if not len(content.found.boundaries):
        return "There is one span, so there is nothing to tell apart."
    if not len(evidence):
        return "The evidence for each of them is left out: it would take as long as the cut itself."
    nouns = plural_of(noun_of(content.recording.kind))
    last = f"Telling {k} {nouns} apart instead of {k - 1} gains {_nats(evidence[k - 2])}; " if k > 1 else ""
    more = (
        f"one more would gain {_nats(evidence[k - 1])}." if k <= len(evidence) else "every span has its own."
    )
    return f"{last}{more} Spans share a label unless telling them apart describes the samples better."


def _nats(evidence: float) -> str:
    """An amount of evidence; "nothing" if it is negative."""
    return f"{evidence:.2g} nats" if evidence > 0 else "nothing"


def describe_uncertain(content: Content) -> str:
    """Which boundaries deserve a second look."""
    confidence = np.round(content.confidence, 3)  # as the page has it
    total = int(np.count_nonzero(np.isfinite(confidence)))
    if not len(content.found.boundaries):
        return "There are no boundaries."
    if not total:
        return "How clear the boundaries are is not known."
    uncertain = int(np.count_nonzero(confidence < MIN_LIKELY_CONFIDENCE))
    clear = int(np.count_nonzero(confidence >= MIN_CLEAR_CONFIDENCE))
    if clear == total:
        return "The only boundary is clear." if total == 1 else f"All {total:,} boundaries are clear."
    count = uncertain or clear
    some = f"All {total:,}" if count == total else f"{count} of {total:,}"
    subject = "The only boundary" if total == 1 else f"{some} boundaries"
    verb = "is" if total == 1 or count < 2 else "are"
    if uncertain:
        return f"{subject} {verb} uncertain (confidence below {percent(MIN_LIKELY_CONFIDENCE)}): take a look."
    if not clear:
        all_of_them = "The only boundary is" if total == 1 else f"All {total:,} boundaries are"
        return f"{all_of_them} likely, but not clear (confidence below {percent(MIN_CLEAR_CONFIDENCE)})."
    others = "the other one is" if total - clear == 1 else "the others are"
    return f"{subject} {verb} clear (confidence of {percent(MIN_CLEAR_CONFIDENCE)} or more); {others} likely."


def describe_scores(content: Content) -> list[tuple[str, str, str]]:
    """Name, value and meaning of every score against the truth."""
    scores = content.document.get("scores", {})
    rows = []
    for name, value in scores.items():
        if name.startswith("boundary_f1_within_"):
            margin = name.rpartition("_")[2]
            where = "exactly" if margin == "0" else f"within {count_of(int(margin), 'sample')}"
            rows.append((f"Boundaries found {where}", f"{value:.3f}", "F1; 1 is perfect"))
        elif name == "covering":
            rows.append(("Spans covered", f"{value:.3f}", "overlap with the true spans; 1 is perfect"))
        else:
            rows.append(
                ("Samples mislabelled", f"{100 * value:.2f} %", "with the best matching; 0 is perfect")
            )
    return rows


def describe_settings(content: Content) -> dict[str, str]:
    """The settings that determine the result."""
    document = content.document
    settings, parameters = document.get("settings", {}), document.get("parameters", {})
    steps = document.get("preprocessing", {}).get("steps", [])
    if not content.is_solved:
        hashes = {"known from, SHA-256": document.get("states", {}).get("sha256")}
        hashes["input, SHA-256"] = document.get("input", {}).get("sha256")
        return {name: value for name, value in hashes.items() if value is not None}
    rows = {
        "method": settings.get("method"),
        **parameters,
        "cut": content.cut,
        "subspaces": settings.get("subspaces"),
        "spans": settings.get("spans"),
        "seed": settings.get("seed"),
        "preprocessing": ", ".join(_describe_step(step) for step in steps) or "none",
        "iterations": content.solution.n_iter,
        "input, SHA-256": document.get("input", {}).get("sha256"),
    }
    return {name: printable(_short(value)) for name, value in rows.items() if value is not None}


def _short(value: object) -> str:
    """A setting as text, numbers with six digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _describe_step(step: dict[str, Any]) -> str:
    """One preprocessing step with its settings."""
    details = ", ".join(f"{name} {value}" for name, value in step.items() if name != "step")
    return f"{step.get('step')} ({details})" if details else str(step.get("step"))
