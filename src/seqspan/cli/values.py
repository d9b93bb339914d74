"""Values of options that are more than a word or a number: lists of columns, names of labels, lengths."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from seqspan._core.text import label_of, name_label, printable
from seqspan.exports._timeline import SECONDS
from seqspan.preprocess import make_chain
from seqspan.recording import Recording

LENGTH = re.compile(r"(\d+\.?\d*|\.\d+)\s*([a-z]*)", re.ASCII)


def parse_list(option: str, given: str) -> tuple[str, ...]:
    """Split a list at its commas; a name with a comma is quoted, as in a CSV file.

    Examples
    --------
    >>> parse_list("--columns", 'flow,"p, inlet",3-5')
    ('flow', 'p, inlet', '3-5')
    """
    items = tuple(item.strip() for item in next(csv.reader([given], skipinitialspace=True), []))
    if not all(items) or not items:
        raise ValueError(f"{option} must be a list of columns, such as flow,pressure or 3-8; got {given!r}.")
    return items


def parse_numbers(option: str, given: str) -> tuple[float, ...]:
    """Split a list of numbers at its commas.

    Examples
    --------
    >>> parse_numbers("--missing-values", "-9999, 1e20")
    (-9999.0, 1e+20)
    """
    try:
        return tuple(float(item) for item in given.split(","))
    except ValueError:
        raise ValueError(f"{option} must be numbers, such as -9999,-200; got {given!r}.") from None


def parse_names(given: str) -> dict[int, str]:
    """Names by label, from A=walk,B=run.

    Examples
    --------
    >>> parse_names("A=walk, C=long jump,1=run")
    {0: 'walk', 2: 'long jump', 1: 'run'}
    """
    names: dict[int, str] = {}
    for item in parse_list("--names", given) if given else ():
        label, equals, name = item.partition("=")
        _add_name(names, "--names", label, name if equals else "", item)
    return names


def read_names(path: Path) -> dict[int, str]:
    """Names by label, from a CSV file with the columns label and name, such as an edited segments.csv."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except UnicodeDecodeError as error:
        raise ValueError(f"{printable(str(path))}: it is not UTF-8 text; save it as CSV UTF-8.") from error
    if not rows or not {"label", "name"} <= set(rows[0]):
        raise ValueError(f"{printable(str(path))}: expected the columns label and name, and a row per label.")
    names: dict[int, str] = {}
    for row in rows:
        given = f"{row['label']},{row['name']}"
        _add_name(names, printable(path.name), row["label"] or "", row["name"] or "", given)
    return names


def _add_name(names: dict[int, str], where: str, label: str, name: str, given: str) -> None:
    """Add one label with its name, checked."""
    number = label_of(label.strip().upper())
    if number is None or not name.strip():
        raise ValueError(f"{where} must name labels, as in A=walk,B=run; got {given!r}.")
    if names.setdefault(number, name.strip()) != name.strip():
        raise ValueError(f"{where} must give a label one name; got {names[number]!r} and {given!r}.")


def write_names(names: Mapping[int, str]) -> str:
    """The same names as `parse_names` reads them.

    Examples
    --------
    >>> write_names({0: "walk", 1: "run, jump"})
    'A=walk,"B=run, jump"'
    """
    items = [f"{name_label(label)}={name}" for label, name in sorted(names.items())]
    quoted = ('"' + item.replace('"', '""') + '"' if set(item) & set(',"') else item for item in items)
    return ",".join(quoted)


def parse_length(given: str) -> tuple[float, str]:
    """A length and its unit: samples if there is no unit.

    Examples
    --------
    >>> parse_length("25"), parse_length("1.5s"), parse_length("200 ms")
    ((25.0, ''), (1.5, 's'), (200.0, 'ms'))
    """
    match = LENGTH.fullmatch(given.strip())
    unit = match[2] if match else ""
    if match is None or (unit and unit not in SECONDS) or (not unit and not given.strip().isdecimal()):
        units = ", ".join(SECONDS)
        raise ValueError(
            f"--min-length must be a number of samples, or a time such as 2s (units: {units}); got {given!r}."
        )
    number = float(match[1])
    if number == float("inf"):
        raise ValueError(f"--min-length must be a finite number; got {given[:20]}...")
    return number, unit


def count_samples(given: str, recording: Recording, preprocess: str) -> int:
    """A length in samples; a time is divided by the usual distance of the samples that are cut."""
    number, unit = parse_length(given)
    if not unit:
        return int(number)
    if recording.time_unit not in SECONDS:
        raise ValueError(
            f"--min-length {given} needs a recording with times; this one is measured in "
            f"{recording.time_unit!r}: give a number of samples."
        )
    chain = make_chain(None if preprocess in ("auto", "none") else preprocess)
    steps = np.diff(recording.times[chain.rows(len(recording))]) * SECONDS[recording.time_unit]
    usual = float(np.median(steps)) if len(steps) else 0.0
    if usual == 0:  # a clock with few digits: most samples have the time of the one before
        usual = float(np.mean(np.maximum(steps, 0))) if len(steps) else 0.0
    return max(1, round(number * SECONDS[unit] / usual)) if usual > 0 else 1
