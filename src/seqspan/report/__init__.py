"""One self-contained HTML file that shows what was found, how sure it is, and how to repeat it."""

from seqspan.report.findings import Findings
from seqspan.report.page import build_report

__all__ = ["Findings", "build_report"]
