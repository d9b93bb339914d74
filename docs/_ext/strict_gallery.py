"""A warning in an example of the gallery fails the build, as it fails a test."""

from __future__ import annotations

import warnings
from typing import Any

#: Matplotlib tells that windows cannot be shown where pictures are only saved.
NO_WINDOW = ".*FigureCanvasAgg is non-interactive.*"
_catching: list[Any] = []


def warnings_fail(gallery_conf: dict[str, Any], name: str, when: str) -> None:
    """Turn warnings into errors while an example runs; sphinx-gallery calls this before and after each."""
    if when == "before":
        _catching.append(warnings.catch_warnings())
        _catching[-1].__enter__()
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=NO_WINDOW)
    else:
        _catching.pop().__exit__(None, None, None)
