"""Mutation run: which small changes of the code does no test notice?

``make mutants`` (or ``python -m tests.tools.mutants``) copies the project to out/mutants, has mutmut change
one thing at a time in the modules that ``[tool.mutmut]`` of pyproject.toml names, runs the tests that reach
the changed function, and prints the score per module. Survivors follow, each as a diff.

There are thousands of mutants: ``--sample 10`` draws as many from each module, the same ones every time.
Tests that were written for the survivors of one draw are measured by another one, of another ``--seed``. With
names, only those of them are tried that match, and ``--tests`` says which tests may notice them:
``--sample 10 --tests tests/models -- 'seqspan.models*'``.

mutmut leaves decorated functions alone, and most of the models are properties: in the copy they are
written as plain methods that ``property`` is called on afterwards.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "out" / "mutants"
GETTERS = ("property", "cached_property")
# by exit code: a red test is a kill; of what is not named here, such as a crash, nobody knows who noticed
OUTCOMES = {None: "left out", 0: "survived", 1: "killed", 33: "no tests"}
OUTCOMES.update(dict.fromkeys((-24, 24, 36, 152, 255), "timeout"))
NOTICED = ("killed", "timeout")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

# mutmut 3.8 asks for an attribute that pytest 9.2 no longer has
COMPATIBILITY = """
if not hasattr(pytest.Item, "_nodeid"):
    pytest.Item._nodeid = property(lambda item: item.nodeid)
"""


def modules(patterns: list[str]) -> list[str]:
    """Paths of the modules to be mutated, of which patterns may leave out some."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mutmut"]
    paths = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "src").rglob("*.py"))]
    mutable = [path for path in paths if any(fnmatch(path, each) for each in settings["only_mutate"])]
    return [path for path in mutable if not patterns or _may_match(path, patterns)]


def _may_match(path: str, patterns: list[str]) -> bool:
    """Whether mutants of a module may have names that match."""
    name = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return any(fnmatch(name, each) or each.startswith(f"{name}.") for each in patterns)


def draw_mutants(count: int, patterns: list[str], seed: int) -> list[str]:
    """Names of `count` mutants of each module of the copy, or of all that it has, if they match a pattern."""
    from mutmut.mutation.file_mutation import mutate_file_contents
    from mutmut.utils.format_utils import get_mutant_name

    drawn = []
    for module in modules(patterns):
        names = sorted(mutate_file_contents(module, (FOLDER / module).read_text()).mutant_names)
        some = random.Random(f"{module} {seed}").sample(names, min(count, len(names)))
        drawn += [get_mutant_name(Path(module), name) for name in some]
    return [name for name in drawn if not patterns or any(fnmatch(name, each) for each in patterns)]


def without_decorated_getters(source: str) -> str:
    """Rewrite ``@property def name`` as ``def get_name`` and ``name = property(get_name)``."""
    lines = source.splitlines()
    getters = [
        (node, decorator.id)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Name) and decorator.id in GETTERS
    ]
    for node, getter in sorted(getters, key=lambda pair: -pair[0].lineno):
        indent, definition = " " * node.col_offset, node.lineno - 1
        lines[definition] = lines[definition].replace(f"def {node.name}(", f"def get_{node.name}(")
        lines.insert(node.end_lineno or definition, f"\n{indent}{node.name} = {getter}(get_{node.name})")
        del lines[node.decorator_list[0].lineno - 1]
    return "\n".join(lines) + "\n"


def test_options() -> list[str]:
    """Options that pytest gets whatever the tests are, such as those to leave out."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mutmut"]
    return [each for each in settings["pytest_add_cli_args_test_selection"] if each.startswith("--")]


def copy_project() -> None:
    """Fresh copy of what the tests need: the checkout itself is never changed."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    unwanted = shutil.ignore_patterns("__pycache__")
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, FOLDER / name, ignore=unwanted)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, FOLDER)
    with (FOLDER / "tests" / "conftest.py").open("a") as conftest:
        conftest.write(COMPATIBILITY)
    for module in modules([]):
        path = FOLDER / module
        path.write_text(without_decorated_getters(path.read_text()))


def restrict(setting: str, values: list[str]) -> None:
    """Replace a list among mutmut's settings in the copy."""
    path = FOLDER / "pyproject.toml"
    path.write_text(
        re.sub(
            rf"(?ms)^{setting} = \[.*?^\]", lambda _: f"{setting} = {json.dumps(values)}", path.read_text()
        )
    )


def run_mutmut(*arguments: str) -> str:
    """Start mutmut in the copy: one thread for each of its processes, and the same examples every time."""
    environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "SEQSPAN_HYPOTHESIS": "mutants"}
    environment["PYTHONWARNDEFAULTENCODING"] = "1"  # where UTF-8 is the default, nothing else tells
    command = [str(Path(sys.executable).parent / "mutmut"), *arguments]
    done = subprocess.run(
        command, cwd=FOLDER, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}")
    return done.stdout


def outcomes(module: str) -> dict[str, str]:
    """What became of each mutant of a module."""
    meta = json.loads((FOLDER / "mutants" / f"{module}.meta").read_text())
    return {name: OUTCOMES.get(code, f"exit {code}") for name, code in meta["exit_code_by_key"].items()}


def print_survivors(survivors: dict[str, str]) -> None:
    """Print what was changed, and what came of it."""
    for name, outcome in survivors.items():
        diff = run_mutmut("show", name).splitlines()
        changed = [line for line in diff if line.startswith(("+", "-")) and line[:3] not in ("+++", "---")]
        print(f"\n{name}: {outcome}", *changed, sep="\n")


def main() -> int:
    """Run, print the score per module and the survivors; 1 if fewer are killed than asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only these mutants, e.g. 'seqspan.cuts.spectral.ncut*'")
    parser.add_argument("--sample", type=int, help="so many mutants of each module, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument(
        "--tests", nargs="+", default=[], help="only these; by default those of pyproject.toml"
    )
    parser.add_argument("--least", type=float, default=90, help="percentage killed that is asked for")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    copy_project()
    mutated = modules(arguments.names)
    restrict("only_mutate", mutated)
    if arguments.tests:
        restrict("pytest_add_cli_args_test_selection", arguments.tests + test_options())
    names = arguments.names
    if arguments.sample is not None:
        names = draw_mutants(arguments.sample, arguments.names, arguments.seed)
    run_mutmut("run", "--max-children", str(arguments.processes), *names)
    total = Counter[str]()
    survivors: dict[str, str] = {}
    print(f"\n{'module':44}{'mutants':>9}{'killed':>9}{'timeout':>9}{'survived':>9}{'score':>9}")
    for module in [each for each in mutated if (FOLDER / "mutants" / f"{each}.meta").exists()]:
        found = {name: outcome for name, outcome in outcomes(module).items() if outcome != "left out"}
        survivors |= {name: outcome for name, outcome in found.items() if outcome not in NOTICED}
        print_row(module, Counter(found.values()))
        total.update(found.values())
    score = print_row("all", total)
    print_survivors(survivors)
    return int(score < arguments.least)


def print_row(name: str, counts: Counter[str]) -> float:
    """Print a line of the table; a mutant that never ends is noticed too, a crash is not."""
    mutants, noticed = counts.total(), sum(counts[outcome] for outcome in NOTICED)
    score = 100 * noticed / mutants if mutants else 100.0
    print(f"{name:44}{mutants:9}{counts['killed']:9}{counts['timeout']:9}{mutants - noticed:9}{score:8.1f}%")
    return score


if __name__ == "__main__":
    sys.exit(main())
