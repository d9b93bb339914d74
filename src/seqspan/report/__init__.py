"""One self-contained HTML file that shows what was found, how sure it is, and how to repeat it."""

from seqspan.report._page import build_report

__all__ = ["build_report"]
