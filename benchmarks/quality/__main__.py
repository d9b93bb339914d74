"""Run seqspan's variants and its peers on all labelled sets, score them, and write tables and timelines.

    python -m benchmarks.quality --data DIR --out DIR

Rows are appended to OUT/quality.csv. Rows that are already there are not run again, so a run can be stopped
and resumed. The tables are in OUT/quality.md, the timelines in OUT/timelines-SET-GIVEN.png. With
--leave-one-out, tables of all rows in OUT/quality.csv are printed instead: for each set, the variant of each
method is chosen on the other sets. The extra `peers` installs the peers. One of them holds numpy and
scikit-learn back, so they can have their own environment:

    python -m venv peers && peers/bin/pip install ruptures claspy hmmlearn fast-ticc scenedetect
    python -m benchmarks.quality --data DIR --peer-python peers/bin/python
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import queue
import sys
import tempfile
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import describe_machine
from benchmarks.quality import peers, variants
from benchmarks.quality.lanes import Lane
from benchmarks.quality.leave_one_out import print_tables
from benchmarks.quality.methods import GIVEN, Method
from benchmarks.quality.rows import Row, append_row, is_finished, read_rows, write_runs
from benchmarks.quality.scores import MARGIN, SPAN_MARGIN, score_rows
from benchmarks.quality.sets import SETS, TWELVE, Labelled
from benchmarks.quality.table import write_tables
from benchmarks.quality.timelines import draw_page

HOMES = {"peers": peers, "variants": variants}


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--data", default=os.environ.get("SEQSPAN_DATA"), help="folder of the sets; $SEQSPAN_DATA by default")
    add("--out", type=Path, default=Path("out/quality"), help="folder for rows, tables and timelines")
    add("--sets", nargs="+", choices=SETS, help="all by default; with --leave-one-out, all but the film")
    add("--methods", nargs="+", default=["*"], help="names of methods or peers, with * and ?")
    add("--given", nargs="+", choices=GIVEN, default=list(GIVEN))
    add("--leave-one-out", action="store_true", help="print what methods reach on sets left out")
    add("--jobs", type=int, default=1, help="methods to run at the same time, each on one core")
    add("--limit", type=float, default=120, help="seconds of processor time after which a method is stopped")
    add("--peer-python", default=sys.executable, help="the Python in which the peers are installed")
    add("--redraw", action="store_true", help="only write tables and timelines of existing rows")
    add("--again", action="store_true", help="run everything again; the new rows count")
    options = parser.parse_args(arguments)
    if options.data is None:
        parser.error("give --data, the folder of the labelled sets, or set $SEQSPAN_DATA.")
    known = TWELVE if options.leave_one_out else SETS
    options.sets = [name for name in options.sets or known if name in known]
    if options.leave_one_out and len(options.sets) < 2:
        parser.error("--leave-one-out needs two sets or more, not counting the film.")
    return options


def choose_methods(patterns: list[str]) -> list[tuple[str, Method]]:
    """Return home and method of all methods whose name or peer matches a pattern."""
    pairs = [(home, method) for home, module in HOMES.items() for method in module.METHODS]
    chosen = [
        (home, method)
        for home, method in pairs
        if any(fnmatch.fnmatch(text, each) for text in (method.name, method.peer) for each in patterns)
    ]
    if not chosen:
        peers_known = ", ".join(dict.fromkeys(method.peer for _, method in pairs))
        raise SystemExit(f"--methods {' '.join(patterns)} fits no method; known peers: {peers_known}.")
    return chosen


def plan_tasks(sequence: Labelled, options: argparse.Namespace, rows: dict) -> list[tuple]:
    """List what still has to run on a recording; settings that give a method the same numbers are one run.

    If such a setting is finished already, its row is copied.
    """
    tasks = []
    for home, method in choose_methods(options.methods):
        if method.kinds and sequence.kind not in method.kinds:
            continue
        open_settings: dict[tuple, list[str]] = {}
        finished: dict[tuple, dict] = {}
        for given in method.given:
            row = rows.get((sequence.set_name, sequence.name, method.name, given))
            told = method.told(given, sequence.boundaries, sequence.n_labels)
            if not options.again and is_finished(row, options.limit):
                finished[told] = row
            elif given in options.given:
                open_settings.setdefault(told, []).append(given)
        for told, settings in open_settings.items():
            if told in finished:
                for given in settings:
                    append_row(options.out / "quality.csv", {**finished[told], "given": given})
            else:
                tasks.append((home, method, told, settings))
    return tasks


def run_sequence(sequence: Labelled, options: argparse.Namespace, rows: dict, lanes: list[Lane]) -> None:
    """Run all open tasks of one recording in the lanes, and append rows as they come."""
    tasks: queue.SimpleQueue = queue.SimpleQueue()
    for task in plan_tasks(sequence, options, rows):
        tasks.put(task)
    lock = threading.Lock()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, sequence.X)

        def work(lane: Lane) -> None:
            while True:
                try:
                    home, method, told, settings = tasks.get_nowait()
                except queue.Empty:
                    return
                answer = lane.ask(home, describe_task(sequence, method, told, path))
                with lock:
                    for given in settings:
                        append_row(options.out / "quality.csv", make_row(sequence, method, given, answer))
                    print(
                        f"{sequence.set_name} {sequence.name}: {method.name}: {answer['status']}", flush=True
                    )

        threads = [threading.Thread(target=work, args=(lane,)) for lane in lanes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def describe_task(sequence: Labelled, method: Method, told: tuple, path: Path) -> dict[str, Any]:
    """Describe a task to a worker; the seed depends only on names, so the order does not matter."""
    seed = zlib.crc32(f"{sequence.set_name} {sequence.name} {method.name}".encode())
    return {
        "method": method.name, "rows": str(path), "source": sequence.source, "kind": sequence.kind,
        "n": len(sequence.X), "told": told, "seed": seed,
    }  # fmt: skip


def make_row(sequence: Labelled, method: Method, given: str, answer: dict[str, Any]) -> dict[str, object]:
    """Make one row of the CSV file."""
    row: dict[str, object] = {
        "set": sequence.set_name, "sequence": sequence.name, "method": method.name, "given": given,
        "peer": method.peer, "n": len(sequence.X), "status": answer["status"],
    }  # fmt: skip
    if answer["status"] == "done":
        row |= {
            "seconds": answer["seconds"],
            "runs": write_runs(np.array(answer["labels"]), answer["boundaries"]),
        }
    return row


def read_scored(sequences: list[Labelled], options: argparse.Namespace) -> list[Row]:
    """Read the rows of the chosen recordings and settings, and score them."""
    own: dict[tuple[str, str], list[Row]] = {}
    for row in read_rows(options.out / "quality.csv").values():
        if row["given"] in options.given:
            own.setdefault((row["set"], row["sequence"]), []).append(row)
    return [
        row
        for sequence in sequences
        for row in score_rows(sequence, own.get((sequence.set_name, sequence.name), []))
    ]


def write_results(sequences: list[Labelled], rows: list[Row], options: argparse.Namespace) -> None:
    """Write tables of the chosen recordings, and a page of timelines for each set and setting."""
    head = (
        f"# Quality\n\n{describe_machine()}. A boundary counts as found within {MARGIN:.0%} of the samples "
        f"and {SPAN_MARGIN:g} of the median true span; seconds are processor time on one core, at most "
        f"{options.limit:g}. Bold: best of the methods that use the data (equal split does not). For each "
        "peer, the variant with the best accuracy plus boundary F1 on these very recordings is shown.\n\n"
    )
    (options.out / "quality.md").write_text(head + write_tables(rows))
    for name in dict.fromkeys(sequence.set_name for sequence in sequences):
        truths = {each.name: each.labels for each in sequences if each.set_name == name}
        for given in options.given:
            own = [row for row in rows if row["set"] == name and row["given"] == given]
            if own:
                title = f"{name}, given: {given} (accuracy / boundary F1)"
                draw_page(options.out / f"timelines-{name}-{given}.png", truths, own, title)


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    rows = read_rows(options.out / "quality.csv")
    sequences = [sequence for name in options.sets for sequence in SETS[name](Path(options.data))]
    if not options.redraw:
        lanes = [Lane(options.limit, options.peer_python) for _ in range(options.jobs)]
        try:
            for sequence in sequences:
                run_sequence(sequence, options, rows, lanes)
        finally:
            for lane in lanes:
                lane.close()
    scored = read_scored(sequences, options)
    if options.leave_one_out:
        print_tables(scored, len(sequences))
    else:
        fitting = {method.name for _, method in choose_methods(options.methods)}
        write_results(sequences, [row for row in scored if row["method"] in fitting], options)


if __name__ == "__main__":
    main()
