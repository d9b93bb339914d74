"""Where arrays live: NumPy on the host, CuPy on a GPU, which is imported when it is asked for and not before."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from seqspan._types import Array

DEVICES = ("cpu", "cuda")


def is_on_gpu(X: object) -> bool:
    """Whether X is a CuPy array; CuPy need not be there to ask.

    Examples
    --------
    >>> is_on_gpu(np.zeros(3))
    False
    """
    return type(X).__module__.partition(".")[0] == "cupy"


def namespace(X: object) -> ModuleType:
    """The module whose functions work on X: cupy for its arrays, numpy for all else.

    Examples
    --------
    >>> namespace([1, 2]).__name__
    'numpy'
    """
    return require_cupy() if is_on_gpu(X) else np


def to_host(X: Any) -> Any:
    """X as a NumPy array; copied only if it lies on a GPU."""
    return X.get() if is_on_gpu(X) else np.asarray(X)


def require_cupy() -> ModuleType:
    """Import CuPy and make sure that it sees a GPU, or say what is missing.

    Returns
    -------
    module
    """
    try:
        import cupy
    except ImportError as missing:
        raise ImportError(
            "device='cuda' needs CuPy: pip install 'seqspan[gpu]' for CUDA 12, 'seqspan[gpu13]' for CUDA 13."
        ) from missing
    if not cupy.cuda.is_available():
        raise RuntimeError(
            f"device='cuda' needs an NVIDIA GPU with its driver; CuPy {cupy.__version__} finds none. "
            "device='cpu' needs neither."
        )
    module: ModuleType = cupy
    return module


def require_device_memory(needed: int, what: str, remedy: str) -> None:
    """Raise a MemoryError that says what is needed, what is free on the GPU and what to do, if it will not fit.

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
    # what the pool holds but nobody uses is given back to the device when memory runs short
    free = int(cupy.cuda.runtime.memGetInfo()[0]) + int(cupy.get_default_memory_pool().free_bytes())
    if needed > free:
        raise MemoryError(
            f"{what} needs {needed / 2**30:.1f} GiB of GPU memory; {free / 2**30:.1f} GiB are free. {remedy}"
        )


def scale_columns_of(X: Array) -> Array:
    """:func:`seqspan.checks.scale_columns` in the namespace of X."""
    xp = namespace(X)
    largest = xp.abs(X).max(axis=0)
    X = X / xp.where(largest > 0, largest, 1)
    norms = xp.linalg.norm(X, axis=0)
    scaled: Array = X / xp.where(norms > 0, norms, 1)
    return scaled
