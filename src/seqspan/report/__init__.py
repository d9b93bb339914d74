"""One self-contained HTML file that shows what was found, how certain it is, and how to reproduce it."""

from seqspan.report._page import build_report

__all__ = ["build_report"]
