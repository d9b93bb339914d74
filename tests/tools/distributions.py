"""Check what is in the wheel and the sdist: all that is needed, and nothing else.

Usage: python -m tests.tools.distributions FOLDER WHEEL_OF_THE_CHECKOUT

The wheel in FOLDER was made from the sdist there; that of the checkout has to hold the same files.
"""

from __future__ import annotations

import email
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
MODULE_ENDINGS = {".py", ".cu", ".js", ".css", ".html"}
MARKER = "py.typed"
# What the tests read, beside the package.
NEEDED_IN_SDIST = ("README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "Makefile", "pyproject.toml")
NEEDED_FOLDERS = ("tests", "benchmarks", "requirements", "docs", "examples")
FORBIDDEN = {"__pycache__", ".hypothesis", ".venv", "out", "mutants"}
FORBIDDEN_ENDINGS = {".pyc", ".nbi", ".nbc", ".npz", ".npy", ".mp4", ".mat", ".amc"}
LARGEST = {"wheel": 1_000_000, "sdist": 6_000_000}  # bytes


def source_files() -> set[str]:
    """Files of the package that the wheel has to hold."""
    package = ROOT / "src"
    files = [path.relative_to(package) for path in package.rglob("*") if path.is_file()]
    return {path.as_posix() for path in files if path.suffix in MODULE_ENDINGS or path.name == MARKER}


def find_unwanted(names: set[str]) -> list[str]:
    """Name caches and data, which no distribution may hold."""
    paths = [PurePosixPath(name) for name in sorted(names)]
    return [str(path) for path in paths if FORBIDDEN & set(path.parts) or path.suffix in FORBIDDEN_ENDINGS]


def check_wheel(wheel: Path) -> list[str]:
    """List what is wrong with the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        information = next(PurePosixPath(name).parent for name in names if name.endswith("/METADATA"))
        metadata = email.message_from_bytes(archive.read(f"{information}/METADATA"))
    code = {name for name in names if PurePosixPath(name).parts[0] != str(information)}
    problems = [f"the wheel lacks {name}" for name in sorted(source_files() - code)]
    problems += [f"the wheel holds {name}, which is not in src" for name in sorted(code - source_files())]
    if f"{information}/licenses/LICENSE" not in names:
        problems.append("the wheel lacks the licence")
    for field in ("Summary", "License-Expression", "Requires-Python", "Keywords", "Classifier", "Author"):
        if not metadata.get(field):
            problems.append(f"the metadata lack {field}")
    if "](docs/" in str(metadata.get_payload()):
        problems.append("the description has links that lead nowhere outside of the repository")
    return problems


def check_sdist(sdist: Path) -> list[str]:
    """List what is wrong with the sdist."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    problems = [f"the sdist lacks {name}" for name in NEEDED_IN_SDIST if name not in names]
    folders = {name.partition("/")[0] for name in names if "/" in name}
    problems += [f"the sdist lacks the folder {name}" for name in NEEDED_FOLDERS if name not in folders]
    return problems + [f"the sdist holds {name}" for name in find_unwanted(names)]


def compare_wheels(one: Path, other: Path) -> list[str]:
    """List the files in which two wheels differ."""
    contents = []
    for wheel in (one, other):
        with zipfile.ZipFile(wheel) as archive:
            contents.append({name: archive.read(name) for name in archive.namelist()})
    first, second = contents
    differing = [name for name in sorted(first.keys() | second.keys()) if first.get(name) != second.get(name)]
    return [f"{name} differs between the wheels of sdist and checkout" for name in differing]


def main(folder: str, wheel_of_checkout: str) -> int:
    """Print every problem; 0 where there is none."""
    wheel, sdist = next(Path(folder).glob("*.whl")), next(Path(folder).glob("*.tar.gz"))
    problems = check_wheel(wheel) + check_sdist(sdist) + compare_wheels(wheel, Path(wheel_of_checkout))
    for kind, path in (("wheel", wheel), ("sdist", sdist)):
        size = path.stat().st_size
        print(f"{path.name}: {size:,} bytes")
        if size > LARGEST[kind]:
            problems.append(f"the {kind} has {size:,} bytes; {LARGEST[kind]:,} should do")
    print("\n".join(problems) or "both hold what they should")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
