r"""Numbers as people write them: "16,675", "1.234,5", "1 234", "(5)", "$ 12", "40 %".

A comma or a point can be a decimal mark or separate thousands, and "16,675" alone does not say which. So a
whole column is looked at, then the rest of the table, then its delimiter; if that does not settle it, the
column is refused instead of guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

NUMERIC_SHARE = 0.5  # of the cells: with fewer numbers than that, a column is text
NULLS = ("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None", "-", "--", "?", "#N/A")
MARKS = (".", ",")
CURRENCIES = "$€£¥¢₹₽₩₺₴₪฿₫₱₦"
SPACES = " \u00a0\u2007\u2009\u202f"
EXPONENT = r"([eE][+-]?[0-9]+)?"
#: Replacements that leave digits, points and commas. Their patterns mean the same to Python and to polars.
STEPS = (
    ("\u2212", "-"),
    (r"^\(([^()+-]+)\)$", "-${1}"),  # accountants' negative numbers
    (rf"^([+-]?)[{SPACES}]*[{CURRENCIES}][{SPACES}]*([+-]?)", "${1}${2}"),
    (rf"[{SPACES}]*[{CURRENCIES}]$", ""),
    (rf"[{SPACES}]*%$", ""),
)
GROUPED_BY_SIGN = rf"^[+-]?[0-9]{{1,3}}([{SPACES}'\u2019][0-9]{{3}})+([.,][0-9]*)?$"
GROUPING_SIGNS = rf"[{SPACES}'\u2019]"
WORDS = r"^[+-]?(?i:inf|infinity)$"
LARGEST_UNGROUPED = 9999  # many write "1200" beside "16,675", but nobody writes "12000"
MARK_NAMES = {".": "point", ",": "comma"}
ADVICE = (
    "pass decimal='.' or decimal=',' to say which is the decimal mark (--read decimal=. on the command line)."
)


def _pattern(decimal: str) -> str:
    """Pattern of a number with this decimal mark, whose thousands the other mark may separate."""
    group = re.escape(MARKS[1 - MARKS.index(decimal)])
    mark = re.escape(decimal)
    plain = rf"(?:[0-9]+(?:{mark}[0-9]*)?|{mark}[0-9]+){EXPONENT}"
    thousands = rf"[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+"
    lakhs = "|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}" if decimal == "." else ""  # as in India: 12,34,567
    return rf"^[+-]?(?:{plain}|(?:{thousands}{lakhs})(?:{mark}[0-9]*)?)$"


PATTERNS = {mark: _pattern(mark) for mark in MARKS}
_COMPILED = {mark: re.compile(pattern) for mark, pattern in PATTERNS.items()}
_STEPS = [(re.compile(found), new.replace("${1}", r"\1").replace("${2}", r"\2")) for found, new in STEPS]


def undecorate(cell: str) -> str:
    """Remove currency, percent signs, parentheses, and spaces or apostrophes between thousands.

    Examples
    --------
    >>> [undecorate(cell) for cell in ("($ 1,234.50)", "1 234,5 %", "12'345")]
    ['-1,234.50', '1234,5', '12345']
    """
    for pattern, new in _STEPS:
        cell = pattern.sub(new, cell)
    return re.sub(GROUPING_SIGNS, "", cell) if re.match(GROUPED_BY_SIGN, cell) else cell


def marks_of(cell: str) -> tuple[str, ...]:
    """Decimal marks with which a cell is a number: both, one, or none if it is not a number at all.

    Examples
    --------
    >>> marks_of("1,25"), marks_of("1,234.5"), marks_of("16,675"), marks_of("-"), marks_of("5 %")
    ((',',), ('.',), ('.', ','), (), ('.', ','))
    """
    core = undecorate(cell)
    if re.match(WORDS, core):
        return MARKS
    return tuple(mark for mark in MARKS if _COMPILED[mark].match(core))


def to_number(cell: str, mark: str) -> float:
    """The value of a cell; the mark is the decimal mark where the cell does not say which is.

    Examples
    --------
    >>> to_number("1,234.5", "."), to_number("1.234,5", "."), to_number("16,675", ","), to_number("(5)", ".")
    (1234.5, 1234.5, 16.675, -5.0)
    """
    marks = marks_of(cell)
    if not marks:
        raise ValueError(f"{cell!r} is not a number")
    decimal = mark if mark in marks else marks[0]
    group = MARKS[1 - MARKS.index(decimal)]
    return float(undecorate(cell).replace(group, "").replace(decimal, "."))


def is_decorated(cell: str) -> bool:
    """Whether a cell has a currency or percent sign, or parentheses."""
    return any(sign in cell for sign in f"{CURRENCIES}%(")


@dataclass(frozen=True)
class Evidence:
    """Cells that are a number with one decimal mark only: the first of each, or None.

    Examples
    --------
    >>> Evidence.of_cells(["16,675", "0,5"])
    Evidence(point=None, comma='0,5')
    """

    point: str | None = None
    comma: str | None = None

    @classmethod
    def of_cells(cls, cells: Sequence[str]) -> Evidence:
        """Look at single cells."""
        first: dict[str, str] = {}
        for cell in cells:
            marks = marks_of(cell)
            if len(marks) == 1:
                first.setdefault(marks[0], cell)
        return cls(first.get("."), first.get(","))

    def __or__(self, other: Evidence) -> Evidence:
        return Evidence(self.point or other.point, self.comma or other.comma)

    @property
    def mark(self) -> str | None:
        """The decimal mark, if the cells agree on one."""
        if bool(self.point) == bool(self.comma):
            return None
        return "." if self.point else ","


@dataclass(frozen=True, eq=False)
class WrittenColumn:
    """A column of text that may hold numbers.

    Parameters
    ----------
    name : str
    cells : polars series of str
        Without spaces at the ends.
    cores : polars series of str
        Without decorations.
    """

    name: str
    cells: pl.Series
    cores: pl.Series

    @classmethod
    def of(cls, column: pl.Series) -> WrittenColumn:
        """Strip and undecorate every cell."""
        import polars as pl

        stripped = column.str.strip_chars()
        cells = pl.select(pl.when(~stripped.is_in(NULLS)).then(stripped)).to_series()
        cores = cells
        for pattern, new in STEPS:
            cores = cores.str.replace_all(pattern, new)
        grouped = cores.str.contains(GROUPED_BY_SIGN)
        if grouped.any():
            joined = cores.str.replace_all(GROUPING_SIGNS, "")
            cores = pl.select(pl.when(grouped).then(joined).otherwise(cores)).to_series()
        return cls(column.name, cells, cores)

    def is_number(self, mark: str) -> pl.Series:
        """Which cells are numbers with this decimal mark."""
        return (self.cores.str.contains(PATTERNS[mark]) | self.cores.str.contains(WORDS)).fill_null(False)

    @property
    def evidence(self) -> Evidence:
        """Cells that are a number with one mark only."""
        point, comma = self.is_number("."), self.is_number(",")
        return Evidence(_first(self.cells, point & ~comma), _first(self.cells, comma & ~point))

    @property
    def is_numeric(self) -> bool:
        """Whether at least half of the cells are numbers."""
        numbers = (self.is_number(".") | self.is_number(",")).sum()
        return bool(numbers >= NUMERIC_SHARE * (len(self.cells) - self.cells.null_count()))

    def numbers(self, mark: str) -> pl.Series:
        """The values, with null for cells that are not numbers with this decimal mark."""
        import polars as pl

        other = MARKS[1 - MARKS.index(mark)]
        plain = self.cores.str.replace_all(other, "", literal=True).str.replace(mark, ".", literal=True)
        values = plain.cast(pl.Float64, strict=False)
        return pl.select(pl.when(self.is_number(mark)).then(values)).to_series().alias(self.name)

    def choose_mark(self, table: Evidence, delimiter: str) -> str:
        """Choose the decimal mark: by this column, by the rest of the table, or by its delimiter."""
        own = self.evidence
        if own.point and own.comma:
            raise ValueError(
                f"column {self.name!r} writes numbers in two ways, such as {own.point!r} and {own.comma!r}: "
                f"the comma cannot be a decimal mark in one and not in the other."
            )
        return own.mark or table.mark or self._mark_by_delimiter(delimiter)

    def _mark_by_delimiter(self, delimiter: str) -> str:
        """Choose the mark of a column in which every comma and point could separate thousands."""
        used = [mark for mark in MARKS if self.cores.str.contains(mark, literal=True).any()]
        bare = self.cores.filter(self.is_number(".") & ~self.cores.str.contains("[.,]"))
        consistent = not _exceeds(bare, LARGEST_UNGROUPED)  # if it separates thousands
        if not used or (used == ["."] and delimiter == ","):
            return "."
        if used == [","] and delimiter == ",":
            if consistent:
                return "."
        elif len(used) == 1 and (not len(bare) or not consistent):
            return used[0]
        cell = _first(self.cells, self.cores.str.contains("[.,]"))
        sign = " or ".join(MARK_NAMES[mark] for mark in used)
        raise ValueError(
            f"column {self.name!r}: the {sign} in {cell!r} could be a decimal mark, or separate thousands; "
            f"{ADVICE}"
        )

    def notes(self, mark: str, usual_mark: str) -> list[str]:
        """What was read into the signs of the cells; contradictory signs are an error."""
        valid = self.cells.filter(self.is_number(mark))
        other = MARKS[1 - MARKS.index(mark)]
        separators = [sign for sign in (other, "'", "\u2019") if valid.str.contains(sign, literal=True).any()]
        if valid.str.contains(rf"[0-9][{SPACES}][0-9]").any():
            separators.append(" ")
        notes = [f"read {sign!r} as a thousands separator" for sign in separators]
        if mark != usual_mark and valid.str.contains(mark, literal=True).any():
            notes.append(f"read {mark!r} as the decimal mark")
        if valid.str.contains(r"\(").any():
            notes.append("read numbers in parentheses as negative")
        return notes + self._note_percent(valid) + self._note_currency(valid)

    def _note_percent(self, valid: pl.Series) -> list[str]:
        """Refuse a column in which only some of the numbers are percentages."""
        percent = valid.str.contains("%", literal=True)
        if percent.any() and not percent.all():
            cells = f"{_first(valid, percent)!r} and {_first(valid, ~percent)!r}"
            raise ValueError(
                f"column {self.name!r} has numbers with and without a percent sign, such as {cells}."
            )
        return ["ignored percent signs"] if percent.any() else []

    def _note_currency(self, valid: pl.Series) -> list[str]:
        """Refuse a column with several currencies."""
        used = [sign for sign in CURRENCIES if valid.str.contains(sign, literal=True).any()]
        if len(used) > 1:
            raise ValueError(f"column {self.name!r} has amounts in several currencies: {' '.join(used)}.")
        return [f"ignored the currency sign {used[0]}"] if used else []


def _exceeds(integers: pl.Series, most: int) -> bool:
    """Whether one of the integers, given as text, is larger in absolute value."""
    import polars as pl

    largest = integers.cast(pl.Float64, strict=False).abs().max()
    return largest is not None and bool(largest > most)  # type: ignore[operator]


def _first(cells: pl.Series, wanted: pl.Series) -> str | None:
    """The first of the wanted cells."""
    places = wanted.fill_null(False).arg_max() if wanted.any() else None
    return None if places is None else str(cells[places])
