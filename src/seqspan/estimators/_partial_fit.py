"""``partial_fit``: estimators that can extend a segmentation while samples arrive."""

from __future__ import annotations

import copy
import inspect
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_array, validate_data

from seqspan._core.checks import check_choice, check_count, check_unmasked
from seqspan._core.spans import Division
from seqspan._core.types import Array, IntArray
from seqspan.cuts.cutting import Cutting
from seqspan.cuts.numbers import check_grain
from seqspan.cuts.online.stream import Stream
from seqspan.estimators._base import Names, SubspaceSegmenter
from seqspan.methods._base import MIN_SAMPLES
from seqspan.pipeline import Method, as_recording, cut, represent
from seqspan.preprocess import Chain, make_chain
from seqspan.preprocess._frozen import FrozenChain, refuse_subsampling
from seqspan.preprocess._steps import UnitNorm
from seqspan.readers._data_frames import from_frame, is_frame
from seqspan.recording import Recording

CUT = "ordered"  # the cut of every stream
PRECISIONS = (np.float64, np.float32)  # that samples may have
#: Parameters that a stream refuses unless they have their default, and what to do instead.
REFUSED = {
    "n_spans": "The number of spans of a stream is not known in advance; try another grain.",
    "warm_start": "A stream is fitted once, when it ends.",
    "device": "Streams run on the CPU.",
    "verbose": "A stream has no stages to show.",
}


class PartialFit(SubspaceSegmenter):
    """An estimator for OSC or SpatSC, which can be fitted to a stream."""

    time_scale: int | str
    _stream: Stream | None = None
    _parameters: dict[str, Any]
    _columns: tuple[str, ...] = ()  # of the tables or recordings that the stream consists of

    def __copy__(self) -> Self:
        """A copy goes on with a stream of its own."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__, _stream=copy.deepcopy(self._stream))
        return twin

    def partial_fit(self, X: npt.ArrayLike | Recording, y: object = None, *, last: bool = False) -> Self:
        """Extend the segmentation by the next samples of a stream.

        A stream is cut as by ``cut="ordered"``. At most 4,096 samples are held. A span is final as soon as
        all divisions that the evidence leaves in play agree on its end; final boundaries and their labels do
        not change any more. With `last`, the samples that are held are fitted as a whole, and the boundaries
        of that fit follow the final ones. The model and its solver matter only for that fit.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features), or Recording
            The columns of data frames and recordings are matched by name with those of the first one, whose
            dates or times are no features, as in `fit`.
        y : ignored
        last : bool
            Whether the stream ends here. All boundaries become final, and the next call starts a new stream.

        Returns
        -------
        self
            With ``boundaries_`` and ``span_labels_`` of everything so far, ``n_final_``, the number of final
            boundaries, ``delays_``, how many samples after each of them it became final, and ``labels_`` of
            the samples in X.

        Examples
        --------
        >>> from seqspan import OSC
        >>> from seqspan.datasets import make_motion
        >>> X, labels = make_motion(2000, 20, rng=1)
        >>> osc = OSC(preprocess="centre")
        >>> for block in np.array_split(X.T, 10):
        ...     osc = osc.partial_fit(block)
        >>> true = np.flatnonzero(np.diff(labels)) + 1
        >>> bool(np.abs(true[:, None] - osc.boundaries_).min(axis=0).max() <= 20)
        True
        """
        if self._stream is None:
            stream = self.begin_stream()
            samples, names, columns = self._first_rows(X)
            self._forget()
            self._name_features(names)
            self.n_features_in_, self._columns = samples.shape[1], columns
            self._parameters = self.get_params(deep=False)
        else:
            stream = self._stream
            self._refuse_changes()
            samples = self._next_rows(X)
        if len(samples):
            stream.extend(samples)
        self._report(self.end_stream(stream) if last else stream.division(), stream, len(samples))
        self._stream = None if last else stream
        return self

    def _first_rows(self, X: Any) -> tuple[Array, Names, tuple[str, ...]]:
        """Check the first samples of a stream; also the names of a table's columns, and of all features."""
        if not _has_names(X):
            return *self._check_rows(X, 0), ()
        recording = _one_recording(X)
        named = is_frame(X) and all(isinstance(name, str) for name in X.columns)
        names = np.array(recording.feature_names, dtype=object) if named else None
        return self._check_rows(recording.X, 0)[0], names, recording.feature_names

    def _next_rows(self, X: Any) -> Array:
        """Check later samples of a stream; columns that have names are matched by them."""
        check_unmasked(X)
        with np.errstate(invalid="ignore"):  # scikit-learn adds up all entries, and the largest overflow
            if self._columns and _has_names(X):
                rows: Array = check_array(_select(X, self._columns), dtype=PRECISIONS, ensure_min_samples=0)
            else:
                given = _one_recording(X).X if isinstance(X, Recording) else X
                rows = validate_data(self, given, dtype=PRECISIONS, reset=False, ensure_min_samples=0)
        return rows

    def begin_stream(self) -> Stream:
        """Check the parameters and return a stream without samples.

        Examples
        --------
        >>> from seqspan import OSC
        >>> OSC(grain="fine").begin_stream().n_samples
        0
        """
        self._refuse_unused()
        check_choice("cut", self.cut, (CUT, inspect.signature(type(self)).parameters["cut"].default))
        method, cutting = self._stream_stages()
        check_grain(CUT, self.grain, self.n_spans, self.n_subspaces)
        scale = check_count("time_scale", self.time_scale, 10**6, "samples", ("auto",))
        labels = check_count("n_subspaces", self.n_subspaces, 10**6, "labels of a stream", ("auto",))
        return Stream(
            Preparation(method.preprocess, self.kind),
            grain=self.grain,
            min_length=cutting.min_length,
            time_scale=None if isinstance(scale, str) else scale,
            n_labels=None if isinstance(labels, str) else labels,
            n_jobs=self._jobs(),
        )

    def _stream_stages(self) -> tuple[Method, Cutting]:
        """Settings of the fit at the end of a stream."""
        ordered = copy.copy(self)
        ordered.cut = CUT
        return ordered.stages()

    def _refuse_unused(self) -> None:
        """Refuse parameters that a stream would ignore."""
        for name, remedy in REFUSED.items():
            default, given = inspect.signature(type(self)).parameters[name].default, getattr(self, name)
            if not _same(given, default):
                raise ValueError(
                    f"partial_fit does not use {name}: leave it at {default!r}; got {given!r}. {remedy}"
                )

    def _refuse_changes(self) -> None:
        """Refuse parameters that were changed in the middle of a stream, where they would have no effect."""
        for name, given in self.get_params(deep=False).items():
            before = self._parameters[name]
            if not _same(given, before):
                raise ValueError(
                    f"{name} was {before!r} when the stream began; got {given!r}. End the stream first "
                    "(last=True), or set it back."
                )

    def end_stream(self, stream: Stream) -> Division:
        """Fit what a stream holds as a whole; boundaries of that fit follow the final ones.

        Parameters
        ----------
        stream : Stream

        Returns
        -------
        Division

        Examples
        --------
        >>> from seqspan import OSC
        >>> OSC().end_stream(OSC().begin_stream()).labels
        array([0])
        """
        rows = stream.rows
        if len(rows) < MIN_SAMPLES:
            return stream.division()
        method, cutting = self._stream_stages()
        if not isinstance(cutting.n_subspaces, str):  # at most, in a stream
            most = max(len(rows) // cutting.min_length, 1)
            cutting = replace(cutting, n_subspaces=min(cutting.n_subspaces, most))
        whole = cut(represent(as_recording(rows, self.kind), method, cutting=cutting), cutting)
        return stream.finish(Division.from_sample_labels(whole.labels))

    def _report(self, found: Division, stream: Stream, n_new: int) -> None:
        """Set the attributes."""
        self.boundaries_, self.span_labels_, self.n_final_ = found.boundaries, found.labels, found.n_final
        self.n_subspaces_ = found.n_labels
        self.n_samples_seen_, self.time_scale_ = stream.n_samples, stream.time_scale
        self.delays_: IntArray = np.array(stream.delays, dtype=np.intp)
        here = np.arange(stream.n_samples - n_new, stream.n_samples)
        self.labels_: IntArray = found.labels[np.searchsorted(found.boundaries, here, side="right")]


def _has_names(X: Any) -> bool:
    """Whether the columns of samples have names."""
    return isinstance(X, Recording) or is_frame(X)


def _one_recording(X: Any, **options: Any) -> Recording:
    """Samples whose columns have names, as one recording."""
    recording = X if isinstance(X, Recording) else from_frame(X, **options)
    if len(recording.lengths) > 1:
        raise ValueError(f"partial_fit takes one recording at a time; got {len(recording.lengths)}.")
    return recording


def _select(X: Any, columns: tuple[str, ...]) -> Array:
    """The rows of these columns, in this order."""
    given = list(X.feature_names if isinstance(X, Recording) else map(str, X.columns))
    missing = [name for name in columns if name not in given]
    if missing:
        raise ValueError(
            f"the feature names must be those that the stream began with; missing: {', '.join(missing)}."
        )
    if not len(X):  # not a table to choose columns from
        return np.empty((0, len(columns)))
    if isinstance(X, Recording):
        return np.asarray(_one_recording(X).X[:, [given.index(name) for name in columns]])
    recording = _one_recording(X, columns=columns)
    return np.asarray(recording.X[:, [recording.feature_names.index(name) for name in columns]])


@dataclass(frozen=True)
class Preparation:
    """Learns the preprocessing of a stream: steps that "auto" chose are kept once a span is final.

    Examples
    --------
    >>> Preparation("centre")(np.array([[1.0], [3.0]]))(np.array([[4.0]]))
    array([[2.]])
    """

    steps: Any
    kind: str = "table"

    def __post_init__(self) -> None:
        if self.steps not in (None, "auto"):
            refuse_subsampling(make_chain(self.steps))

    def __call__(self, rows: Array, again: FrozenChain | None = None) -> FrozenChain:
        """Learn from rows."""
        if again is not None:
            return FrozenChain.learn(again.chain, rows)
        chain = Chain() if self.steps is None else make_chain(self.steps, rows, self.kind)
        if chain.steps and isinstance(chain.steps[-1], UnitNorm):  # the cut looks at samples as they are
            chain = replace(chain, steps=chain.steps[:-1])
        return FrozenChain.learn(chain, rows)


def _same(given: Any, other: Any) -> bool:
    """Whether two values of a parameter are the same; arrays are compared by identity."""
    return given is other or (not isinstance(given, np.ndarray) and bool(given == other))
