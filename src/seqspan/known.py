"""Known states: what a segmentation keeps, so that its labels are recognised in new recordings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from seqspan._core.backend import to_host
from seqspan._core.scaling import HEADROOM_BITS, leave_headroom
from seqspan._core.spans import Division
from seqspan._core.text import list_names, printable
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.confidence import boundary_confidence
from seqspan.cuts.ordered.features import sample_features
from seqspan.cuts.states import States
from seqspan.preprocess import Chain, make_chain
from seqspan.preprocess._steps import Divide, UnitNorm
from seqspan.recording import Recording, default_names

__all__ = ["KnownStates"]

FORMAT = 1  # of files
MAX_NAMES = 1000  # columns; of more, such as pixels, only the number is kept
NO_STATES = "no known states in this file."  # of an error


@dataclass(frozen=True, eq=False)
class Evidence:
    """What samples say about boundaries.

    Parameters
    ----------
    features : array of shape (n, p)
        What they look like.
    """

    features: Array

    def confidence(self, boundaries: IntArray) -> Array:
        """How sure each boundary is, in [0, 1]."""
        return boundary_confidence(self.features, boundaries)


@dataclass(frozen=True, eq=False)
class KnownStates:
    """The labels of a recording, recognised in others.

    ``segmentation.states`` is one, and fitted estimators use it to predict.

    Parameters
    ----------
    states : States
        Models of the labels.
    chain : Chain
        Preprocessing, with what it learned from the recording.
    n_features : int
    feature_names : tuple of str
        Names of the columns; empty if they have none, or if there are very many.

    Examples
    --------
    >>> import seqspan
    >>> from seqspan.datasets import make_recurring_subspaces
    >>> X, labels = make_recurring_subspaces((0, 1, 2, 0), 3, 12, 30, rng=0)
    >>> known = seqspan.segment(X.T).states
    >>> bool(np.mean(known.predict(X.T) == labels) > 0.98)
    True
    """

    states: States
    chain: Chain
    n_features: int
    feature_names: tuple[str, ...] = ()

    @classmethod
    def learn(
        cls, recording: Recording, steps: Any, labels: IntArray, boundaries: IntArray, min_length: int = 1
    ) -> Self:
        """Learn what recognises the labels of a recording.

        Parameters
        ----------
        recording : Recording
        steps : steps
            Records of the preprocessing, as for :func:`seqspan.preprocess.make_chain`.
        labels : array of int, shape (n_samples,)
        boundaries : array of int, shape (n_spans - 1,)
        min_length : int
            Length of the shortest span that the cut allows, in preprocessed samples.

        Returns
        -------
        KnownStates
        """
        rows = to_host(recording.X)
        chain = _learn_chain(steps, rows, recording.joins)
        kept = chain.rows(len(rows), recording.joins)
        starts = np.unique(np.searchsorted(kept, boundaries))
        starts = starts[(starts > 0) & (starts < len(kept))]
        division = Division(starts, labels[kept[np.concatenate([[0], starts]).astype(np.intp)]])
        names = recording.feature_names
        keep = len(names) <= MAX_NAMES and names != default_names(len(names))
        states = States.learn(chain.apply(rows, recording.joins).T, division, min_length, chain.reach)
        return cls(states, chain, rows.shape[1], names if keep else ())

    @property
    def agreement(self) -> float:
        """Share of the samples that the labels come from that get their label again."""
        return self.states.agreement

    def predict(self, X: Recording | npt.NDArray[Any]) -> IntArray:
        """Label the samples of a recording.

        Parameters
        ----------
        X : Recording, or array of shape (n_samples, n_features)
            Columns of a recording are matched by name.

        Returns
        -------
        array of int, shape (n_samples,)
            The known labels, and -1 where none of them fits.
        """
        return self._map(X, self.states.assign)

    def score_samples(self, X: Recording | npt.NDArray[Any]) -> Array:
        """How well each sample fits: the log density of its best label over that of the background.

        Parameters
        ----------
        X : Recording, or array of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            In nats; positive where a label describes the sample better than all labels together do.
        """
        return self._map(X, self.states.score)

    def measure(self, X: Recording | npt.NDArray[Any]) -> Evidence:
        """What the samples of a recording say about boundaries, whatever the labels."""
        return Evidence(sample_features(self._map(X, np.transpose).T))

    def _map(self, X: Recording | npt.NDArray[Any], function: Callable[[Array], Any]) -> npt.NDArray[Any]:
        """Apply a function of preprocessed columns to each recording; a value for each of its rows."""
        found = []
        for part in X.split() if isinstance(X, Recording) else [X]:
            rows = self._rows(part)
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows here fits no label
                prepared = self.chain.apply(rows)
            values = function(prepared.T)
            kept = self.chain.rows(len(rows))  # a row that was left out has the value of the one before
            found.append(values[np.searchsorted(kept, np.arange(len(rows)), side="right") - 1])
        return np.concatenate(found)

    def _rows(self, X: Recording | npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The columns that are known, in their order."""
        rows: npt.NDArray[Any] = to_host(X.X if isinstance(X, Recording) else X)
        if isinstance(X, Recording) and self.feature_names:
            return np.asarray(rows[:, match_columns(self.feature_names, X.feature_names)])
        if rows.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} features, as before; got {rows.shape[1]}.")
        return rows

    def save(self, path: str | PathLike[str]) -> None:
        """Write an npz file, without pickled objects.

        Parameters
        ----------
        path : path
        """
        arrays: dict[str, Any] = self.states.to_arrays() | self.chain.to_arrays()
        header = {
            "format": FORMAT,
            "steps": self.chain.records(),
            "n_features": self.n_features,
            "feature_names": list(self.feature_names),
        }
        arrays["header"] = np.array(json.dumps(header))
        with Path(path).open("wb") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a file that `save` wrote.

        Parameters
        ----------
        path : path

        Returns
        -------
        KnownStates
        """
        arrays = _read_arrays(Path(path))
        try:
            header = json.loads(str(arrays["header"]))
            newer = header["format"] > FORMAT
            if not newer:
                return cls._from_arrays(arrays, header)
        except (KeyError, TypeError, IndexError, ValueError) as error:
            raise ValueError(f"{printable(str(path))}: {NO_STATES}") from error
        raise ValueError(
            f"{printable(str(path))}: known states of format {header['format']}, and this version of seqspan "
            f"knows formats up to {FORMAT}: update seqspan."
        )

    @classmethod
    def _from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any]) -> Self:
        """Put together what a file holds."""
        chain, names = Chain.from_arrays(header["steps"], arrays), tuple(header["feature_names"])
        n_features = int(header["n_features"])
        if n_features < 1 or (names and len(names) != n_features):
            raise ValueError(f"{n_features} features with {len(names)} names.")
        return cls(States.from_arrays(arrays), chain, n_features, names)


def _read_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """All arrays of an npz file; objects, which would have to be unpickled, are refused."""
    try:
        # opened here, because np.load leaves the file open if it is not an archive
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return dict(archive)
    except (ValueError, TypeError, EOFError, BadZipFile) as error:
        raise ValueError(f"{printable(str(path))}: {NO_STATES}") from error


def _learn_chain(steps: Any, rows: npt.NDArray[Any], joins: tuple[int, ...]) -> Chain:
    """The preprocessing with what it learns, without unit norm at its end: labels look at samples before."""
    chosen = make_chain(steps).steps
    if chosen and isinstance(chosen[-1], UnitNorm):
        chosen = chosen[:-1]
    smaller = leave_headroom(rows)
    learned = Chain(chosen).learn(smaller, joins)
    first = () if smaller is rows else (Divide(np.array(2.0**HEADROOM_BITS)),)
    return Chain((*first, *learned.steps))


def match_columns(known: tuple[str, ...], given: tuple[str, ...]) -> list[int]:
    """Where the known columns are among those given; missing and additional ones are an error."""
    missing = [name for name in known if name not in set(given)]
    additional = [name for name in given if name not in set(known)]
    if missing or additional:
        raise ValueError(
            "the columns must be those that the states were found in; "
            + "; ".join(
                f"{what}: {list_names([printable(name) for name in names])}"
                for what, names in (("missing", missing), ("additional", additional))
                if names
            )
            + "."
        )
    if len(given) != len(known):
        raise ValueError(f"every column must be there once, {len(known)} of them; got {len(given)}.")
    places = {name: place for place, name in enumerate(given)}
    return [places[name] for name in known] if len(places) == len(known) else list(range(len(known)))
