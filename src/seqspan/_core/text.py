"""Names of labels, counts with their nouns, and untrusted text made safe to print."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from numbers import Integral
from string import ascii_uppercase
from typing import Any

UNKNOWN_TITLE = "unknown"  # of the label -1, where no known label fits
MOST_LETTERS = 2  # of a label; longer words are names
MAX_LABEL = 999_999  # more are a mistake: there is a name, and a colour, for every label up to the largest


def name_label(label: int) -> str:
    """Name labels A to Z, then AA, AB and so on.

    Examples
    --------
    >>> [name_label(label) for label in (0, 25, 26, 701, 702)]
    ['A', 'Z', 'AA', 'ZZ', 'AAA']
    """
    name = ""
    label += 1
    while label:
        label, rest = divmod(label - 1, len(ascii_uppercase))
        name = ascii_uppercase[rest] + name
    return name


def label_of(name: str) -> int | None:
    """The label with this number or these letters; None if it is another name.

    Examples
    --------
    >>> [label_of(name) for name in ("3", "C", "AA", "walk")]
    [3, 2, 26, None]
    """
    if name.isascii() and name.isdecimal():
        return int(name[:20])  # Python refuses thousands of digits; 20 are too large a number already
    if not name or len(name) > MOST_LETTERS or not set(name) <= set(ascii_uppercase):
        return None
    number = 0
    for letter in name:
        number = number * len(ascii_uppercase) + ascii_uppercase.index(letter) + 1
    return number - 1


def title_of(label: int, names: Sequence[str] = ()) -> str:
    """The name that a user gave to a label, or else its letters.

    Examples
    --------
    >>> title_of(0, ["walk", ""]), title_of(1, ["walk", ""]), title_of(2), title_of(-1)
    ('walk', 'B', 'C', 'unknown')
    """
    if label < 0:
        return UNKNOWN_TITLE
    return names[label] if label < len(names) and names[label] else name_label(label)


def merge_names(known: Sequence[str], given: Mapping[Any, str] | Sequence[str]) -> tuple[str, ...]:
    """Names of label 0, label 1 and so on: those given, by number or letters, and else those known.

    Examples
    --------
    >>> merge_names(["walk"], {"C": "run"})
    ('walk', '', 'run')
    """
    if isinstance(given, str):
        raise ValueError(f"names must be a mapping or a sequence of names; got the text {given!r}.")
    names = dict(enumerate(known))
    for key, name in (given if isinstance(given, Mapping) else dict(enumerate(given))).items():
        label = label_of(key) if isinstance(key, str) else key
        if not isinstance(label, Integral) or not 0 <= int(label) <= MAX_LABEL:
            raise ValueError(f"names must be for labels such as 0 or 'A'; got {key!r}.")
        if not isinstance(name, str):
            raise ValueError(f"names must be text; got {name!r} for label {key!r}.")
        if any(unicodedata.category(character) == "Cs" for character in name):
            raise ValueError(f"names must be text that UTF-8 can write; got {printable(name)!r}.")
        names[int(label)] = name
    return tuple(names.get(label, "") for label in range(max(names, default=-1) + 1))


#: What a label is called in each kind of recording.
NOUNS = {"video": "scene", "mocap": "activity", "spectra": "layer", "table": "state"}


def noun_of(kind: str) -> str:
    """What a label is called in recordings of this kind.

    Examples
    --------
    >>> noun_of("video")
    'scene'
    """
    return NOUNS.get(kind, "label")


def plural_of(noun: str) -> str:
    """The plural of a regular noun.

    Examples
    --------
    >>> plural_of("span"), plural_of("activity")
    ('spans', 'activities')
    """
    return f"{noun.removesuffix('y')}ies" if noun.endswith("y") else f"{noun}s"


def count_of(number: int, noun: str) -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> count_of(1, "span"), count_of(3, "span")
    ('1 span', '3 spans')
    """
    return f"{number} {noun if number == 1 else plural_of(noun)}"


def list_names(names: Sequence[str], most: int = 10) -> str:
    """List names for a message, and count those beyond the first few.

    Examples
    --------
    >>> list_names(["flow", "pressure", "load"], 2)
    'flow, pressure and 1 more'
    """
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def percent(share: float) -> str:
    """Write a share as whole per cent.

    Examples
    --------
    >>> percent(0.254)
    '25 %'
    """
    return f"{100 * share:.0f} %"


NO_CHARACTERS = "\ufffe\uffff"  # which XML does not allow


def printable(text: str) -> str:
    r"""Make every character visible, so that a file name can neither break a line nor hide its real name.

    Examples
    --------
    >>> printable("a\tb\x1b[31m")
    'a␉b␛[31m'
    """
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    """Replace an invisible character (control, text direction, lone surrogate) by a symbol or its code."""
    if ord(character) < 32:
        return chr(0x2400 + ord(character))
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character != "\u200d"
    if hidden or character in NO_CHARACTERS:
        return f"\\u{ord(character):04x}"  # a joiner is part of many emoji
    return character
