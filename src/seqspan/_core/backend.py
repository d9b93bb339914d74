"""Where arrays live: NumPy on the host, CuPy on a GPU. CuPy is imported only when it is needed."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any, cast

import numpy as np

from seqspan._core.extras import MissingPackageError

DEVICES = ("cpu", "cuda")


def is_on_gpu(X: object) -> bool:
    """Whether X is a CuPy array; works without CuPy installed.

    Examples
    --------
    >>> is_on_gpu(np.zeros(3))
    False
    """
    return type(X).__module__.partition(".")[0] == "cupy"


def namespace(X: object) -> ModuleType:
    """The module whose functions work on X: cupy for CuPy arrays, numpy for everything else.

    Examples
    --------
    >>> namespace([1, 2]).__name__
    'numpy'
    """
    return require_cupy() if is_on_gpu(X) else np


def to_host(X: Any) -> Any:
    """Return X as a NumPy array; copies only if X is on a GPU."""
    return X.get() if is_on_gpu(X) else np.asarray(X)


def place_with(other: object, X: Any) -> Any:
    """Return X where another array is; copies only if X is elsewhere.

    Examples
    --------
    >>> place_with(np.zeros(3), np.ones(2))
    array([1., 1.])
    """
    return namespace(other).asarray(X) if is_on_gpu(other) else to_host(X)


def device_of(X: Any) -> AbstractContextManager[Any]:
    """A context in which new arrays are on the GPU of X; one without effect if X is on the host.

    Examples
    --------
    >>> with device_of(np.zeros(3)):
    ...     pass
    """
    return cast(AbstractContextManager[Any], X.device) if is_on_gpu(X) else nullcontext()


def column_squares(X: Any) -> Any:
    """Squared norms of columns, in the precision of X; one pass on a GPU, where einsum would take several.

    Examples
    --------
    >>> column_squares(np.array([[3.0, 1.0], [4.0, 0.0]]))
    array([25.,  1.])
    """
    return (X * X).sum(axis=0) if is_on_gpu(X) else np.einsum("ij,ij->j", X, X)


def require_cupy() -> ModuleType:
    """Import CuPy and check that it finds a GPU; raise an error that names what is missing.

    Returns
    -------
    module
    """
    try:
        import cupy
    except ImportError as missing:
        raise MissingPackageError(
            "device='cuda' needs CuPy: pip install 'seqspan[gpu]' for CUDA 12, 'seqspan[gpu13]' for CUDA 13."
        ) from missing
    if not cupy.cuda.is_available():
        raise RuntimeError(
            f"device='cuda' needs an NVIDIA GPU and its driver; CuPy {cupy.__version__} found none. "
            "Use device='cpu' instead."
        )
    module: ModuleType = cupy
    return module


def require_device_memory(needed: int, what: str, remedy: str) -> None:
    """Raise a MemoryError if the GPU has too little memory: how much is needed, how much is free, what to do.

    Parameters
    ----------
    needed : int
        Bytes.
    what : str
        What needs them.
    remedy : str
        What to do about it, as a sentence.
    """
    cupy = require_cupy()
    # CuPy's pool returns its unused blocks to the device when memory runs short
    free = int(cupy.cuda.runtime.memGetInfo()[0]) + int(cupy.get_default_memory_pool().free_bytes())
    if needed > free:
        raise MemoryError(
            f"{what} needs {needed / 2**30:.1f} GiB of GPU memory; {free / 2**30:.1f} GiB are free. {remedy}"
        )


def check_device_samples(X: Any, minimum: int) -> Any:
    """Check a CuPy array the way scikit-learn checks NumPy arrays, and return it in floating point.

    Parameters
    ----------
    X : CuPy array of shape (n_samples, n_features)
    minimum : int
        Minimum number of samples.

    Returns
    -------
    array of shape (n_samples, n_features)
    """
    if X.ndim != 2 or X.shape[0] < minimum or X.shape[1] < 1:
        raise ValueError(
            f"X must have at least {minimum} samples (rows) and 1 feature (column); got shape {X.shape}."
        )
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X must contain real numbers; got dtype {X.dtype}.")
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    if not bool(namespace(X).isfinite(X).all()):
        raise ValueError("Input X contains NaN or infinity; all entries must be finite.")
    return X
