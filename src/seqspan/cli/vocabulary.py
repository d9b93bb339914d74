"""The names of known states, and which columns of a stream they are recognised in."""

from __future__ import annotations

from dataclasses import dataclass

from seqspan._core.spans import UNKNOWN
from seqspan._core.text import label_of, printable, title_of
from seqspan.cli.rows import RowParser
from seqspan.known import KnownStates, match_columns

NEW = "new"  # instead of a name, if no known state fits


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The states of a result, as `watch` needs them.

    Parameters
    ----------
    states : KnownStates
    label_names : tuple of str
    sha256 : str
        Of their file, so that a checkpoint is not continued with other states.
    """

    states: KnownStates
    label_names: tuple[str, ...] = ()
    sha256: str = ""

    def name(self, label: int) -> str:
        """The name of a label, or "new"."""
        return NEW if label == UNKNOWN else title_of(label, self.label_names)

    def find(self, name: str) -> int:
        """The label with a name, with these letters or with this number; -1 for "new"."""
        labels: list[int] = self.states.states.labels.tolist()
        if name == NEW:
            return UNKNOWN
        by_name = {self.name(label): label for label in labels}
        label = by_name.get(name, label_of(name))
        if label is None or label not in labels:
            known = ", ".join(map(printable, by_name))
            raise ValueError(f"--until must be one of {known}, or 'new'; got {name!r}.")
        return label

    def columns(self, parser: RowParser) -> list[int]:
        """Where the columns of the states are among those of a parser."""
        known = self.states.feature_names
        if known and parser.named:
            return match_columns(known, tuple(parser.names))
        n_found, n_wanted = len(parser.names), self.states.n_features
        if n_found != n_wanted:
            listed = f" ({', '.join(map(printable, known))}); begin with a line of names" if known else ""
            raise ValueError(f"the known states need {n_wanted} columns, and a row has {n_found}{listed}.")
        return list(range(n_wanted))
