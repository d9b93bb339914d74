"""Version, changelog and citation agree, and the audit of pinned versions says what it found."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

import seqspan

ROOT = Path(__file__).parents[2]


def load_audit():
    spec = importlib.util.spec_from_file_location("audit", ROOT / "requirements" / "audit.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(name: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for package, version in load_audit().read_pins((ROOT / "requirements" / name).read_text()):
        found.setdefault(normalised(package), []).append(version)
    return found


def bounds() -> dict[str, str]:
    """Lower bounds of what the package and its tests need, from pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"]]
    included = re.findall(r"\w+", extras["all"][0].partition("[")[2])
    for extra in (*included, "test"):
        wanted += extras[extra]
    matches = [re.match(r"([A-Za-z0-9._-]+)>=([0-9.]+)", text) for text in wanted]
    assert all(matches)
    return {normalised(match[1]): match[2] for match in matches}


def numbers(version: str) -> list[int]:
    parts = [int(part) for part in re.findall(r"\d+", version)]
    return parts + [0] * (6 - len(parts))


def test_the_changelog_speaks_of_this_version():
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    version = seqspan.__version__
    wanted = "Unreleased" if ".dev" in version else rf"{re.escape(version)} \(\d{{4}}-\d{{2}}-\d{{2}}\)"
    assert re.fullmatch(wanted, headings[0]), (
        f"CHANGELOG.md starts with {headings[0]!r} for version {version}"
    )


def test_the_citation_names_this_version():
    text = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.+)$", text, flags=re.MULTILINE) == [seqspan.__version__]


def test_the_lowest_pins_are_the_lower_bounds():
    lowest = pins("lowest.txt")
    for package, bound in bounds().items():
        assert [numbers(version) for version in lowest[package]] == [numbers(bound)], package


def test_the_newest_pins_cover_every_dependency():
    newest = pins("newest.txt")
    for package, bound in bounds().items():
        assert all(numbers(version) >= numbers(bound) for version in newest[package]), package


PAGES = {
    "good/1.0": {"info": {"version": "1.0"}, "vulnerabilities": []},
    "bad/1.0": {
        "info": {"version": "1.0"},
        "vulnerabilities": [{"id": "PYSEC-1", "aliases": ["CVE-1"], "fixed_in": ["1.1"], "withdrawn": None}],
    },
    "mended/1.0": {
        "info": {"version": "1.0"},
        "vulnerabilities": [{"id": "PYSEC-2", "aliases": [], "fixed_in": [], "withdrawn": "2026-01-01"}],
    },
    "mirrored": {"info": {"version": "2.0"}, "vulnerabilities": []},
}


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("good==1.0\n# bad==1.0\nmended==1.0 ; python_version < '4'", 0, "2 pins, 2 checked, 0 with known"),
        ("good==1.0\nbad==1.0\nabsent==3", 1, "bad==1.0: PYSEC-1 (CVE-1), fixed in 1.1"),
        ("mirrored==2.0", 0, "1 pins, 1 checked"),
        ("good==1.0\nmirrored==1.9", 2, "not checked: mirrored==1.9"),
        ("", 2, "0 pins"),
    ],
)
def test_the_audit_names_what_is_vulnerable_and_what_nobody_knows(text, status, said, capsys):
    audit = load_audit()
    assert audit.audit(audit.read_pins(text), PAGES.get) == status
    assert said in capsys.readouterr().out
