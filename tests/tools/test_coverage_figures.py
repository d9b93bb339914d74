"""The figures of a coverage run: lines and branches are judged apart."""

from __future__ import annotations

import json

import pytest
from tests.tools.coverage_figures import LOWEST, main


def summary(lines, branches, total=1000):
    return {
        "covered_lines": lines,
        "num_statements": total,
        "covered_branches": branches,
        "num_branches": total,
    }


@pytest.mark.parametrize(
    ("lines", "branches", "status"), [(951, 951, 0), (1000, 950, 1), (950, 1000, 1), (990, 980, 0)]
)
def test_each_has_to_be_above_the_goal(tmp_path, capsys, lines, branches, status):
    path = tmp_path / "coverage.json"
    path.write_text(json.dumps({"files": {}, "totals": summary(lines, branches)}))
    assert main(str(path)) == status
    printed = capsys.readouterr()
    assert f"lines    {lines / 10:.2f} % of 1,000\nbranches {branches / 10:.2f} % of 1,000" in printed.out
    assert ("Both have to be above 95 %." in printed.err) == bool(status)


def test_the_files_with_the_least_come_first(tmp_path, capsys):
    files = {f"{number:02}.py": {"summary": summary(number, number, 100)} for number in range(30, 0, -1)}
    files["empty.py"] = {"summary": summary(0, 0, 0)}
    path = tmp_path / "coverage.json"
    path.write_text(json.dumps({"files": files, "totals": summary(1, 1, 1)}))
    assert main(str(path)) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()[:-2]]
    assert listed == [f"{number:02}.py" for number in range(1, LOWEST + 1)]
