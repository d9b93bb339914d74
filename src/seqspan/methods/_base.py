"""What the parameters of all methods share: they are checked, and say what the pipeline's stages do."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.backend import DEVICES, require_cupy
from seqspan._core.checks import check_bool, check_choice, check_count, check_seed, check_weight
from seqspan._core.kernels import Kernel, check_kernel
from seqspan._core.solution import Progress
from seqspan._core.spans import MIN_LENGTH
from seqspan._core.types import Array
from seqspan.cuts import CUTS
from seqspan.cuts.cutting import Cutting
from seqspan.models import Model
from seqspan.pipeline import Method
from seqspan.solvers import Stopping
from seqspan.solvers.fast.landmarks import DICTIONARIES

PRECISIONS = ("float32", "float64")
PUBLISHED_RULES = ("vladmap", "ladmpsap", "sylvester")  # solvers whose papers give a stopping rule
Callback = Callable[[Progress], None]


class Parameters:
    """The parameters of a method.

    The class attributes are the values of parameters that a method does not offer. A new method only defines
    its parameters, its model and its solver.
    """

    n_subspaces: int | str
    n_spans: int | str
    grain: str
    cut: str
    min_length: int
    kernel: Kernel = "linear"
    normalize: bool
    preprocess: Any
    dtype: str | None
    kind: str
    tol: float = 1e-2
    stopping: str = "gap"
    max_iter: int = 1
    warm_start: bool = False
    device: str = "cpu"
    dictionary: str | npt.ArrayLike = "samples"
    n_landmarks: int | str = "auto"
    n_jobs: int | None
    random_state: Any
    callback: Callback | None
    verbose: int

    def _make_model(self, X: Array) -> Model:
        """Check the model's own parameters and build the model for samples X (d, n)."""
        raise NotImplementedError

    def _solver(self) -> str:
        """Name of the solver, checked."""
        raise NotImplementedError

    def stages(self) -> tuple[Method, Cutting]:
        """Return the settings of the pipeline's two stages, with every parameter checked.

        Examples
        --------
        >>> from seqspan import OSC
        >>> method, cutting = OSC(solver="vladmap", cut="ordered").stages()
        >>> method.solver, cutting.cut
        ('vladmap', 'ordered')
        """
        return self._method(), self._cutting()

    def _method(self) -> Method:
        """How samples are represented."""
        if check_choice("device", self.device, DEVICES) == "cuda":
            require_cupy()
        solver = self._solver()
        self._check_dictionary()
        if self.dtype is not None:
            check_choice("dtype", self.dtype, PRECISIONS)
        if self.device == "cuda":
            check_choice("solver with device='cuda'", solver, ("fast",))
        return Method(
            make_model=self._make_model,
            solver=solver,
            preprocess=self.preprocess,
            normalize=check_bool("normalize", self.normalize),
            kernel=check_kernel(self.kernel),
            dtype=self.dtype,
            dictionary=self.dictionary if isinstance(self.dictionary, str) else np.asarray(self.dictionary),
            n_landmarks=check_count("n_landmarks", self.n_landmarks, 10**6, "landmarks", ("auto",)),
            device=self.device,
            stopping=self._stopping(solver),
            n_jobs=self._jobs(),
        )

    def _check_dictionary(self) -> None:
        """Check what represents the samples: a word, or an array of atoms that nobody preprocesses."""
        given = self.dictionary if isinstance(self.dictionary, str) else "an array"
        if given in ("samples", "an array") and self.n_landmarks != "auto":
            raise ValueError(
                f"n_landmarks={self.n_landmarks} needs dictionary='landmarks' or 'auto'; got {given!r}."
            )
        if isinstance(self.dictionary, str):
            check_choice("dictionary", self.dictionary, DICTIONARIES)
        elif self.preprocess is not None:
            raise ValueError(
                "dictionary=array needs preprocess=None, because steps such as centring look at the samples: "
                f"preprocess samples and atoms before fit; got preprocess={self.preprocess!r}."
            )

    def _stopping(self, solver: str) -> Stopping:
        """When the solver stops, checked."""
        rule = check_choice("stopping", self.stopping, ("gap", "published"))
        if rule == "published" and solver not in PUBLISHED_RULES:
            raise ValueError(
                f"stopping='published' needs a solver with a published rule, {', '.join(PUBLISHED_RULES)}; "
                f"got solver={solver!r}."
            )
        check_weight("tol", self.tol)
        check_count("max_iter", self.max_iter, 10**9, "iterations")
        return Stopping(self.tol, int(self.max_iter), rule == "published", self.callback)

    def _jobs(self) -> int | None:
        """Number of threads as given, checked."""
        if self.n_jobs is not None and (not isinstance(self.n_jobs, Integral) or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None or an int other than 0; got {self.n_jobs!r}.")
        return self.n_jobs

    def _cutting(self) -> Cutting:
        """How coefficients become spans."""
        check_choice("cut", self.cut, CUTS)
        check_count("min_length", self.min_length, 10**9, "samples of a span")
        if self.cut != "ordered" and self.min_length != MIN_LENGTH:
            raise ValueError(
                f"min_length is for cut='ordered'; got min_length={self.min_length} with {self.cut!r}."
            )
        seed = check_seed("random_state", self.random_state)
        return Cutting(
            self.cut, self.n_subspaces, self.n_spans, self.grain, int(self.min_length), seed, self._jobs()
        )
