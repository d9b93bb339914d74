"""Optional packages: imported when needed; if one is missing, the error names the extra to install."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

#: The extra in pyproject.toml that installs each optional package.
EXTRAS = {
    "av": "video",
    "matplotlib": "plots",
    "ezc3d": "mocap",
    "pybvh": "mocap",
    "spectral": "spectra",
    "h5py": "matlab",
    "cupy": "gpu",
    "dask": "cluster",
    "distributed": "cluster",
}


class MissingPackageError(ImportError, ValueError):
    """An optional package is not installed; the message names the extra that installs it.

    Examples
    --------
    >>> issubclass(MissingPackageError, ImportError) and issubclass(MissingPackageError, ValueError)
    True
    """


def require_optional(module: str, wanted: str) -> None:
    """Check that an optional package is installed, without importing it.

    Parameters
    ----------
    module : str
        Full name, such as ``"av"`` or ``"matplotlib.pyplot"``.
    wanted : str
        What needs the package, as the subject of a sentence: ``"reading video"``.

    Raises
    ------
    MissingPackageError
        If the package is not installed.

    Examples
    --------
    >>> require_optional("av", "reading video")
    """
    package = module.partition(".")[0]
    if importlib.util.find_spec(package) is None:
        raise MissingPackageError(
            f"{wanted} needs the package {package}, which is not installed: "
            f"pip install 'seqspan[{EXTRAS[package]}]'"
        )


def import_optional(module: str, wanted: str) -> ModuleType:
    """Import a module of an optional package.

    Parameters
    ----------
    module, wanted : str
        As for `require_optional`.

    Returns
    -------
    module

    Raises
    ------
    MissingPackageError
        If the package is not installed.

    Examples
    --------
    >>> import_optional("av", "reading video").__name__
    'av'
    """
    require_optional(module, wanted)
    return importlib.import_module(module)
