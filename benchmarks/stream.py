"""Streams: agreement with the whole fit, how soon spans are final, speed, and memory.

    python -m benchmarks.stream agreement --data DIR       # the labelled recordings and benchmarks.one_span
    python -m benchmarks.stream rate --samples 1000000     # samples per second, and resident memory
    python -m benchmarks.stream watch --samples 10000000   # the same for rows of text in `seqspan watch`
    python -m benchmarks.stream kills --times 20           # `seqspan watch`, killed and started again

`agreement` feeds every recording in blocks of 100 samples to `partial_fit`, with the defaults of
`seqspan.segment`, and compares with `fit` on the whole. A boundary agrees if the other has one within the
margin of `benchmarks.quality`: 2 % of the samples and a fifth of the median true span at most. Delays are
those of boundaries that are final before the last sample; the others are counted. With --quick, there are
two cases, without --data those of `benchmarks.one_span` alone.

`rate` feeds blocks of 1,000 samples of 62 angles, from five recordings of 20,000 samples in turn, so that
activities return. `watch` feeds lines of eight numbers, around one of six means in turn. `kills` starts
`seqspan watch` on a file, kills it (SIGKILL) at random times, and compares its events with those of a run
that nobody killed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.common import describe_machine, motion_problem, print_table
from benchmarks.one_span import WITH_CHANGES, WITHOUT_CHANGE
from benchmarks.quality.scores import boundary_margin, is_near
from benchmarks.quality.sets import SETS, Labelled
from seqspan import OSC
from seqspan.cli.watch import Options, Watch
from seqspan.estimators import table_of_defaults
from seqspan.estimators._checkpoint import load_stream
from seqspan.pipeline import as_recording

BLOCK = 100
RATE_BLOCK = 1000
RECORDING = 20_000


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def measure_rate(n_samples: int) -> None:
    recordings = [np.ascontiguousarray(motion_problem(RECORDING, seed).T, np.float32) for seed in range(5)]
    OSC().partial_fit(recordings[0][:2000])  # compile
    osc = OSC()
    rows, cpu, began, last = [], time.process_time(), time.perf_counter(), 0.0
    for done in range(RATE_BLOCK, n_samples + RATE_BLOCK, RATE_BLOCK):
        start = (done - RATE_BLOCK) % RECORDING
        osc.partial_fit(recordings[(done - RATE_BLOCK) // RECORDING % 5][start : start + RATE_BLOCK])
        if done * 10 // n_samples > (done - RATE_BLOCK) * 10 // n_samples:
            seconds = time.perf_counter() - began
            rows.append(
                {"samples": done, "samples/s": done / seconds,
                 "in this tenth": n_samples / 10 / (seconds - last),
                 "CPU us/sample": (time.process_time() - cpu) / done * 1e6,
                 "resident MB": resident_bytes() / 1e6, "final": osc.n_final_, "labels": osc.n_subspaces_,
                 "delay": float(np.median(osc.delays_)), "95 %": float(np.percentile(osc.delays_, 95))}
            )  # fmt: skip
            print_table(rows[-1:])
            last = seconds
    print_table(rows)


def all_cases(data: Path | None) -> Iterator[Labelled]:
    """Yield the cases of `benchmarks.one_span`, then the labelled recordings."""
    for name, draw in WITHOUT_CHANGE.items():
        X = draw(np.random.default_rng(0))
        yield Labelled("one_span", name, "table", X, np.zeros(len(X), int))
    for name, draw_labelled in WITH_CHANGES.items():
        yield Labelled("one_span", name, "table", *draw_labelled(np.random.default_rng(0)))
    for load in SETS.values() if data is not None else ():
        yield from load(data)


def judge(case: Labelled) -> dict[str, object]:
    """Compare a stream with the whole fit."""
    defaults = {**table_of_defaults(), "kind": case.kind}
    whole = OSC(**defaults).fit(as_recording(case.X, case.kind)).boundaries_
    osc = OSC(**defaults)
    for start in range(0, len(case.X), BLOCK):
        osc.partial_fit(case.X[start : start + BLOCK])
    early, delays = osc.n_final_, osc.delays_
    found, margin = osc.partial_fit(case.X[:0], last=True).boundaries_, boundary_margin(case)
    return {
        "set": case.set_name, "recording": case.name, "n": len(case.X), "margin": margin,
        "whole": len(whole), "of them in the stream": int(is_near(whole, found, margin).sum()),
        "stream": len(found), "of them in the whole": int(is_near(found, whole, margin).sum()),
        "final early": early, "delays": delays,
    }  # fmt: skip


def measure_agreement(cases: Iterator[Labelled]) -> None:
    rows = []
    for case in cases:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows.append(judge(case))
        print_table([summarise(case.name, rows[-1:])])
    print_table([summarise(name, [row for row in rows if row["set"] == name]) for name in
                 dict.fromkeys(str(row["set"]) for row in rows)] + [summarise("all", rows)])  # fmt: skip


def summarise(name: str, rows: list[dict[str, object]]) -> dict[str, object]:
    """Add up the rows of a set."""
    names = ("whole", "of them in the stream", "stream", "of them in the whole", "final early")
    sums = {column: sum(int(row[column]) for row in rows) for column in names}  # type: ignore[call-overload]
    delays = np.concatenate([np.asarray(row["delays"]) for row in rows])
    shown = np.percentile(delays, [50, 95]).round().astype(int).tolist() if len(delays) else ["", ""]
    return {"set": name, **sums, "median delay": shown[0], "95 %": shown[1]}


class Lines:
    """Rows of text around one of six means in turn, a block at a time; prints how it goes, ten times."""

    def __init__(self, n_rows: int, length: int = 500) -> None:
        self.n_rows, self.length = n_rows, length

    def seek(self, offset: int) -> None:
        """Begin at the first row."""

    def blocks(self) -> Iterator[bytes]:
        """Yield about a thousand rows at a time."""
        rng, began = np.random.default_rng(0), time.perf_counter()
        means, block = rng.standard_normal((6, 8)), 1000
        for done in range(0, self.n_rows, block):
            states = (np.arange(done, done + block) // self.length * 5) % 6
            rows = means[states] + 0.5 * rng.standard_normal((block, 8))
            yield "".join(",".join(f"{value:.4f}" for value in row) + "\n" for row in rows).encode()
            if (done + block) * 10 // self.n_rows > done * 10 // self.n_rows:
                speed = (done + block) / (time.perf_counter() - began)
                print_table([{"rows": done + block, "rows/s": speed, "resident MB": resident_bytes() / 1e6}])


def measure_watch(n_rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with (Path(folder) / "events.jsonl").open("wb") as out:
            Watch(Options(), out, Path(folder) / "checkpoint.npz").run(Lines(n_rows))
        events = [json.loads(line) for line in (Path(folder) / "events.jsonl").read_text().splitlines()]
    spans = [event for event in events if event["event"] == "span"]
    exact = sum(span["end"] % 500 == 0 for span in spans)
    print(f"{len(spans)} spans, {exact} of them end at the sample; {n_rows // 500} would be right.")


def measure_kills(times: int, rows_between: int = 1500) -> None:
    """Kill `seqspan watch` again and again, each time after more of the file has been written."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        rows, whole, out, checkpoint = (
            Path(folder) / name for name in ("rows.csv", "whole.jsonl", "events.jsonl", "checkpoint.npz")
        )
        text = b"".join(Lines(rows_between * (times + 1)).blocks()).splitlines(keepends=True)
        command = [sys.executable, "-m", "seqspan.cli", "watch", str(rows), "--out"]
        resumable = [*command, str(out), "--checkpoint", str(checkpoint)]
        repeated = 0
        for kill in range(times):
            rows.write_bytes(b"".join(text[: rows_between * (kill + 1)]))
            saved = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
            running = subprocess.Popen(resumable)
            while not checkpoint.exists() or checkpoint.stat().st_mtime_ns == saved:
                if running.poll() is not None:
                    raise RuntimeError(f"watch ended with status {running.returncode}.")
                time.sleep(0.05)
            time.sleep(rng.uniform(0, 1))  # somewhere between this checkpoint and the next
            running.kill()
            running.wait()
            repeated += rows_between * (kill + 1) > count_rows(checkpoint)
        rows.write_bytes(b"".join(text))
        subprocess.run([*resumable, "--patience", "0.5"], check=True)
        subprocess.run([*command, str(whole), "--patience", "0.5"], check=True)
        same = out.read_text() == whole.read_text()
        n_spans = whole.read_text().count('"span"')
        print(
            f"{times} kills, {repeated} of them with rows left to take: {n_spans} spans, "
            f"{'the same events' if same else 'NOT THE SAME EVENTS'} as without."
        )


def count_rows(checkpoint: Path) -> int:
    """Return the number of rows that a checkpoint has taken."""
    stream = Options().estimator().begin_stream()
    load_stream(checkpoint, stream)
    return stream.n_samples


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("rate", "agreement", "watch", "kills"), nargs="?", default="rate")
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=20, help="kills")
    parser.add_argument("--data", type=Path, help="folder of the labelled sets")
    parser.add_argument("--quick", action="store_true", help="two cases only")
    options = parser.parse_args()
    print(describe_machine())
    if options.what == "rate":
        measure_rate(options.samples)
    elif options.what == "watch":
        measure_watch(options.samples)
    elif options.what == "kills":
        measure_kills(options.times)
    else:
        measure_agreement(islice(all_cases(options.data), 2 if options.quick else None))


if __name__ == "__main__":
    main()
