"""How long commands take that compute nothing, relative to importing numpy.

    python -m benchmarks.imports [--repeats 7]

Every row is a process of its own. The shortest of a few repeats counts, and repeats of all rows alternate.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

from benchmarks.common import describe_machine, print_table

COMMANDS = {
    "import numpy": ["-c", "import numpy"],
    "import seqspan": ["-c", "import seqspan"],
    "seqspan --help": ["-m", "seqspan.cli", "--help"],
    "seqspan --version": ["-m", "seqspan.cli", "--version"],
    "seqspan segment --help": ["-m", "seqspan.cli", "segment", "--help"],
}


def seconds_of(arguments: list[str]) -> float:
    """Return how long Python takes to run something."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    print(describe_machine())
    repeats = [{name: seconds_of(given) for name, given in COMMANDS.items()} for _ in range(options.repeats)]
    best = {name: min(repeat[name] for repeat in repeats) for name in COMMANDS}
    print_table([
        {"command": name, "seconds": seconds, "times numpy": seconds / best["import numpy"]}
        for name, seconds in best.items()
    ])  # fmt: skip


if __name__ == "__main__":
    main()
