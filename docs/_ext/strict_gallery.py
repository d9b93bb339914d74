"""A warning in an example of the gallery fails the build, as it fails a test."""

from __future__ import annotations

import warnings
from typing import Any

#: Matplotlib tells that windows cannot be shown where pictures are only saved.
NO_WINDOW = ".*FigureCanvasAgg is non-interactive.*"


def warnings_fail(_: dict[str, Any], __: str) -> None:
    """Turn warnings into errors; sphinx-gallery calls this before every example."""
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", message=NO_WINDOW)
