"""Which labels the rows of a corrected table mean, and what the table calls them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from seqspan._core.spans import UNKNOWN
from seqspan._core.text import MAX_LABEL, UNKNOWN_TITLE, label_of, name_label, printable, title_of


def is_unknown(text: str) -> bool:
    """Whether a table calls a span unknown, as that of known labels in another recording does.

    Examples
    --------
    >>> is_unknown("-1"), is_unknown("unknown"), is_unknown("A")
    (True, True, False)
    """
    return text in (str(UNKNOWN), UNKNOWN_TITLE)


def number_labels(given: Sequence[str], names: Sequence[str] = ()) -> list[int]:
    """Numbers, letters and known names mean the labels that they are of; other names get the next numbers.

    Our tables have numbers in this column, so a number is never a name.

    Parameters
    ----------
    given : sequence of str
        The label of each row.
    names : sequence of str
        Names that the labels have so far.

    Returns
    -------
    list of int

    Examples
    --------
    >>> number_labels(["B", "walk", "run", "1", "unknown"], ["walk"])
    [1, 0, 2, 1, -1]
    """
    known = {name: label for label, name in reversed(list(enumerate(names))) if name and not _is_number(name)}
    numbers: dict[str, int] = {}
    new = []
    for text in dict.fromkeys(given):
        number = UNKNOWN if is_unknown(text) else known.get(text, label_of(text))
        if number is None:
            new.append(text)
        elif number > MAX_LABEL:
            raise ValueError(f"labels must be names, letters or numbers up to {MAX_LABEL}; got {text}.")
        else:
            numbers[text] = number
    following = max(numbers.values(), default=-1) + 1
    numbers |= {name: following + place for place, name in enumerate(new)}
    return [numbers[text] for text in given]


def _is_number(name: str) -> bool:
    """Whether a name looks like the number of a label."""
    return name.isascii() and name.isdecimal()


def name_labels(
    stated: Sequence[tuple[int, int, str]], names: Sequence[str] = ()
) -> tuple[dict[int, str], list[str]]:
    """What the rows of a table call their labels.

    Somebody who gives a row another label may leave its name as it was. So where the rows of a label
    disagree, names that labels had before do not count, and one new name renames the label.

    Parameters
    ----------
    stated : sequence of (int, int, str)
        Line, label and name of each row.
    names : sequence of str
        Names that the labels have so far.

    Returns
    -------
    names : dict from int to str
        Names by label; empty for labels that are called by their letters again.
    notes : list of str

    Examples
    --------
    >>> name_labels([(2, 0, "walk"), (3, 1, "B"), (4, 0, "walk")])
    ({0: 'walk', 1: ''}, [])
    """
    lines_of: dict[int, dict[str, int]] = {}
    for line, label, name in stated:
        if name:
            lines_of.setdefault(label, {}).setdefault(name, line)
    claims = Claims(lines_of, names)
    chosen = {label: claims.choose(label) for label in lines_of}
    notes = [note for label, name in chosen.items() for note in claims.note(label, name)]
    return {label: "" if name == name_label(label) else name for label, name in chosen.items()}, notes


@dataclass(frozen=True)
class Claims:
    """Names that the rows of a table state for each label, and the names that labels have so far.

    Parameters
    ----------
    lines_of : mapping from int to mapping from str to int
        For each label its names, with the first line that states them.
    names : sequence of str
    """

    lines_of: Mapping[int, Mapping[str, int]]
    names: Sequence[str]

    @cached_property
    def owners(self) -> dict[str, int]:
        """The label that each name so far belongs to."""
        return {name: label for label, name in enumerate(self.names) if name}

    @cached_property
    def n_letters(self) -> int:
        """How many letters labels have at most; longer ones are words."""
        return len(name_label(max((*self.lines_of, len(self.names) - 1))))

    def choose(self, label: int) -> str:
        """The name of a label, or its letters."""
        lines, own, letters = self.lines_of[label], title_of(label, self.names), name_label(label)
        fresh = [name for name in lines if not self._is_left_behind(label, name)]
        new = [name for name in fresh if name not in (own, letters)]
        if len(new) > 1:
            raise ValueError(
                f"label {letters} is called {printable(new[0])!r} in line {lines[new[0]]}, but "
                f"{printable(new[1])!r} in line {lines[new[1]]}: give one of them another label."
            )
        if new:
            return new[0]
        return letters if letters in lines and own not in lines else own

    def _is_left_behind(self, label: int, name: str) -> bool:
        """Whether a name is that of another label, from which somebody has taken a span."""
        if name.isalpha() and len(name) <= self.n_letters and label_of(name) not in (None, label):
            return True
        other = self.owners.get(name, label)
        return other != label and (len(self.lines_of[label]) > 1 or name in self.lines_of.get(other, ()))

    def note(self, label: int, name: str) -> list[str]:
        """Say so if a name holds for more rows than those that state it, or for none of them."""
        lines = self.lines_of[label]
        if name not in lines:
            name, line = next(iter(lines.items()))
            what = "is that of another label, not of"
        elif len(lines) > 1 and name != title_of(label, self.names):
            line, what = lines[name], "is for all spans of"
        else:
            return []
        return [
            f"corrected table, line {line}: the name {printable(name)!r} {what} label {name_label(label)}"
        ]
