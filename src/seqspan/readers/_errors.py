"""One kind of error for every way in which somebody else's file can be wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seqspan._core.extras import MissingPackageError


@contextmanager
def naming(path: Path, expected: str) -> Iterator[None]:
    """Let out of the block only ValueError and OSError, with the file's name in the message.

    Parsers of damaged files fail in as many ways as there are parsers (KeyError, zlib.error, RecursionError);
    the cause stays chained for who debugs.
    """
    try:
        with warnings.catch_warnings():
            # What matters of a parser's warnings is in our notes; the rest is its housekeeping.
            warnings.simplefilter("ignore")
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
