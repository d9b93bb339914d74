"""Readers turn files into recordings: ``read(path)`` takes video, motion capture, spectra and tables.

Each format has its own file here. `_registry` picks the reader of a file; `_limits` and `_errors` make sure
that a damaged or malicious file ends in one clear error.
"""

from seqspan._core.extras import MissingPackageError
from seqspan.readers._blocks import read_blocks
from seqspan.readers._data_frames import from_frame
from seqspan.readers._read import read
from seqspan.readers._registry import readers

__all__ = ["MissingPackageError", "from_frame", "read", "read_blocks", "readers"]
