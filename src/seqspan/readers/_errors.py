"""A damaged file raises ValueError or OSError with its name, whatever the parser raised."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seqspan._core.extras import MissingPackageError

DAMAGED_CHOICES = ("error", "keep")  # what the option damaged= can be
KEEP_DAMAGED = "pass damaged='keep' to use what is there."


@contextmanager
def name_file_in_errors(path: Path, expected: str) -> Iterator[None]:
    """Turn every error of the block into a ValueError or OSError that names the file.

    Parsers fail on damaged files with anything from KeyError to RecursionError; the original error stays
    chained for debugging.

    Parameters
    ----------
    path : Path
    expected : str
        What the file should be: ``"a video"``.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a parser's warnings do not concern the user; our notes do
            yield
    except MissingPackageError as error:
        raise MissingPackageError(f"{path}: {error}") from error
    except OSError as error:
        if path.name in str(error):
            raise
        raise OSError(f"{path}: could not be read as {expected}: {error}") from error
    except MemoryError as error:
        reason = f": {error}" if str(error) else "."
        raise ValueError(f"{path}: does not fit in memory as {expected}{reason}") from error
    except ValueError as error:
        if str(error).startswith(str(path)):
            raise
        raise ValueError(f"{path}: {error}") from error
    except Exception as error:
        reason = " ".join(str(error).split()) or "it ends early or is damaged"
        raise ValueError(f"{path}: not {expected}: {reason} ({type(error).__name__}).") from error
