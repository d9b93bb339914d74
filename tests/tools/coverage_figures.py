"""Figures of a coverage run: lines and branches, each over the whole package, and the files with the least.

``make coverage`` runs the suite, then ``python -m tests.tools.coverage_figures out/coverage.json``, which
fails unless both figures are above the goal.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

GOAL = 95.0  # percent, of lines and of branches
LOWEST = 10  # files that are listed


def percent(covered: int, total: int) -> float:
    """Share in percent; where there is nothing to cover, nothing is missing."""
    return 100.0 * covered / total if total else 100.0


def figures(summary: dict[str, Any]) -> tuple[float, float]:
    """Percent of the lines and of the branches, of a file or of all."""
    return (
        percent(summary["covered_lines"], summary["num_statements"]),
        percent(summary["covered_branches"], summary["num_branches"]),
    )


def table(files: dict[str, Any]) -> list[str]:
    """The files with the lowest share of lines and branches together."""

    def together(summary: dict[str, Any]) -> float:
        return percent(
            summary["covered_lines"] + summary["covered_branches"],
            summary["num_statements"] + summary["num_branches"],
        )

    least = sorted(files, key=lambda name: together(files[name]["summary"]))[:LOWEST]
    return [
        "{:<52}{:6.1f} % of {:4d} lines {:6.1f} % of {:4d} branches".format(
            name,
            lines,
            files[name]["summary"]["num_statements"],
            branches,
            files[name]["summary"]["num_branches"],
        )
        for name in least
        for lines, branches in [figures(files[name]["summary"])]
    ]


def main(path: str) -> int:
    """Print the figures; 1 where one is not above the goal."""
    measured = json.loads(Path(path).read_text("utf-8"))
    print("\n".join(table(measured["files"])))
    lines, branches = figures(measured["totals"])
    n_lines, n_branches = measured["totals"]["num_statements"], measured["totals"]["num_branches"]
    print(f"lines    {lines:.2f} % of {n_lines:,}\nbranches {branches:.2f} % of {n_branches:,}")
    if min(lines, branches) <= GOAL:
        print(f"Both have to be above {GOAL:.0f} %.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
