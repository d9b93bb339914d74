"""Imports run one way: every import in the package, inside functions too, points to a lower layer."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "seqspan"

#: What each package may import, besides itself. The first that matches a module counts.
ALLOWED: dict[str, set[str]] = {
    "_core": set(),
    "recording": {"_core"},
    "readers": {"_core", "recording"},
    "preprocess": {"_core", "recording"},
    "models": {"_core"},
    "metrics": {"_core"},
    "plots": {"_core", "recording"},
    "exports": {"_core", "recording", "readers"},
    "results": {"_core", "recording"},
    "solvers": {"_core", "models"},
    "cuts": {"_core"},
    "known": {"_core", "recording", "preprocess", "cuts"},
    "representation": {"_core", "recording"},
    "segmentation": {
        "_core",
        "recording",
        "readers",
        "plots",
        "exports",
        "results",
        "cuts",
        "known",
        "representation",
    },
}
ALLOWED["pipeline"] = {name for name in ALLOWED if "." not in name} - {
    "readers",
    "exports",
    "plots",
    "metrics",
}
ALLOWED["methods"] = ALLOWED["pipeline"] | {"pipeline"}
ALLOWED["estimators"] = ALLOWED["methods"] | {"methods", "readers"}
BELOW_THE_TOP = ALLOWED["estimators"] | {"estimators", "exports", "plots", "metrics"}
ALLOWED["datasets"] = BELOW_THE_TOP
ALLOWED["report"] = ALLOWED["reproduction"] = BELOW_THE_TOP | {"datasets"}
ALLOWED["cli"] = BELOW_THE_TOP | {"datasets", "report", "reproduction", ""}
ALLOWED["__main__"] = {"cli"}
ALLOWED[""] = {"estimators", "readers", "recording", "segmentation"}  # seqspan/__init__.py itself


def package_of(module: str) -> str:
    """The entry of ALLOWED for a module below seqspan: "cuts.online.stream" -> "cuts"."""
    parts = module.split(".")
    longest = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in longest if name in ALLOWED), parts[0])


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name below seqspan of every module of ours that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            names = [node.module or ""]
            if node.module is not None and (path.parents[0] / "__init__.py").exists():
                names = [_submodule(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "seqspan":
                yield node.lineno, name.partition(".")[2]


def _submodule(module: str, name: str) -> str:
    """``from seqspan.cuts import online`` imports the module seqspan.cuts.online."""
    place = PACKAGE.parent / Path(*module.split(".")) / name
    return f"{module}.{name}" if place.with_suffix(".py").exists() or place.is_dir() else module


def wrong_way(root: Path = PACKAGE) -> list[str]:
    """Imports that point sideways or upwards."""
    found = []
    for path in sorted(root.rglob("*.py")):
        module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix("__init__").rstrip(".")
        home = package_of(module)
        for line, target in imports_of(path):
            package = package_of(target)
            if package != home and package not in ALLOWED[home]:
                found.append(f"{path.relative_to(root)}:{line} imports {target or 'seqspan'}")
    return found


def test_imports_point_to_lower_layers():
    assert wrong_way() == []


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def late():\n    from seqspan.pipeline import cut\n", "solvers/late.py:2 imports pipeline"),
        ("import seqspan.cuts.peaks\n", "solvers/late.py:1 imports cuts.peaks"),
        ("import seqspan\n", "solvers/late.py:1 imports seqspan"),
        ("from seqspan import estimators\n", "solvers/late.py:1 imports estimators"),
    ],
)
def test_an_import_upwards_is_seen_even_inside_a_function(tmp_path, source, line):
    (tmp_path / "solvers").mkdir()
    (tmp_path / "solvers" / "__init__.py").touch()
    (tmp_path / "solvers" / "late.py").write_text(source)
    assert wrong_way(tmp_path) == [line]


def test_few_modules_lie_directly_in_the_package():
    assert len(list(PACKAGE.glob("*.py"))) <= 8


def test_importing_a_cut_loads_no_solver():
    # a bare package in place of ours, whose __init__ loads everything, so that only what a cut needs is
    # loaded
    probe = (
        "import sys, types, importlib.util\n"
        f"package = types.ModuleType('seqspan'); package.__path__ = [{str(PACKAGE)!r}]\n"
        "sys.modules['seqspan'] = package\n"
        "import seqspan.cuts, seqspan.cuts.ordered.cut, seqspan.cuts.spectral.ncut\n"
        "print([name for name in sys.modules if name.startswith('seqspan.solvers')])\n"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
