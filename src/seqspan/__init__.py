"""Segment ordered, high-dimensional data into spans that lie in different subspaces.

The data flow, one package for each stage::

    file  ->  Recording  ->  X  ->  Z  ->  spans  ->  Segmentation  ->  report, exports
      readers       preprocess  models    cuts
                                solvers

``seqspan.segment(source)`` takes a path, a Recording or an array of rows all the way.
"""

from importlib import import_module

TYPE_CHECKING = False  # as far as Python is concerned; to import typing takes longer than everything here
if TYPE_CHECKING:
    from seqspan.estimators import LRR, LSR, OSC, SSC, SpatSC, segment
    from seqspan.readers import read
    from seqspan.recording import Recording
    from seqspan.segmentation import Segmentation

__version__ = "0.1.0.dev0"

__all__ = ["LRR", "LSR", "OSC", "SSC", "Recording", "Segmentation", "SpatSC", "read", "segment"]

# Names are imported when they are used: the command line can answer Ctrl-C and --version before that.
_HOMES = {
    **dict.fromkeys(("LRR", "LSR", "OSC", "SSC", "SpatSC", "segment"), "estimators"),
    "read": "readers",
    "Recording": "recording",
    "Segmentation": "segmentation",
}
_MODULES = (
    *("cuts", "datasets", "estimators", "exports", "metrics", "models", "pipeline", "plots", "preprocess"),
    *("readers", "recording", "report", "reproduction", "results", "segmentation", "solvers"),
)


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"seqspan.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'seqspan' has no attribute {name!r}")
    value = getattr(import_module(f"seqspan.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
