"""Streams: speed and memory over a million samples, and agreement with a segmentation of everything at once.

    python -m benchmarks.online rate --samples 1000000     # samples per second, and resident memory
    python -m benchmarks.online agreement                  # motion-capture sets; needs $SEQSPAN_DATA

`rate` feeds blocks of 480 samples of 62 angles, from five different recordings of 20,000 samples in turn, so
that activities return. `agreement` counts the boundaries of `segment_at_once` that the stream finds within a
second, and the other way round; the sets' labels are the truth. With --ordered, it also compares with `fit`
and its ordered cut, another method that sees everything.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.common import describe_machine, motion_problem, print_table
from benchmarks.landmarks import prepare
from seqspan import OSC
from seqspan._core.spans import boundaries_from_labels
from seqspan.cuts.online.stream import TIME_SCALE, OnlineSegmentation, segment_at_once
from seqspan.datasets import real
from seqspan.datasets._real_mocap import CMU86_TRIALS, MOCAP6_TRIALS
from seqspan.metrics import boundary_f1, clustering_error
from seqspan.models import Osc
from seqspan.recording import Recording

BLOCK = 480
RECORDING = 20_000
MODEL = Osc(0.1, 1.0)


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def measure_rate(n_samples: int) -> None:
    recordings = [np.ascontiguousarray(motion_problem(RECORDING, seed).T, np.float32) for seed in range(5)]
    osc = OSC(time_scale=TIME_SCALE)
    osc.partial_fit(recordings[0][:4000])  # compile
    rows, cpu, began, last = [], time.process_time(), time.perf_counter(), 0.0
    slowest = 0.0
    for done in range(0, n_samples, BLOCK):
        recording = recordings[done // RECORDING % 5]
        start = done % RECORDING
        block_began = time.perf_counter()
        osc.partial_fit(recording[start : start + BLOCK])
        slowest = max(slowest, time.perf_counter() - block_began)
        if (done + BLOCK) * 10 // n_samples > done * 10 // n_samples:
            seconds = time.perf_counter() - began
            rows.append(
                {"samples": done + BLOCK, "samples/s": (done + BLOCK) / seconds,
                 "in this tenth": n_samples / 10 / (seconds - last), "slowest block, s": slowest,
                 "CPU us/sample": (time.process_time() - cpu) / (done + BLOCK) * 1e6,
                 "resident MB": resident_bytes() / 1e6, "boundaries": len(osc.boundaries_),
                 "final": osc.n_final_, "labels": osc.n_subspaces_}
            )  # fmt: skip
            print_table(rows[-1:])
            last, slowest = seconds, 0.0
    print_table(rows)


def motion_sets(quick: bool) -> Iterator[tuple[str, Recording]]:
    if quick:
        yield "mocap6 13_30", real.load_mocap6("13_30")
        return
    for trial in CMU86_TRIALS:
        yield f"cmu86 {trial}", real.load_cmu86(trial)
    yield "cmu86 1, angles", real.load_cmu86_angles()
    for trial in MOCAP6_TRIALS:
        yield f"mocap6 {trial}", real.load_mocap6(trial)
    for trial in ("13_29", "14_14"):
        yield f"mocap6 {trial}, angles", real.load_mocap6_angles(trial)
    for actor in ("bd", "bk"):
        for clips in (1, 3):
            yield f"hdm05 {actor}, {clips} clips an action", real.load_hdm05(actor, clips)


def near(these: np.ndarray, those: np.ndarray, within: int) -> int:
    """Count how many of these have one of those within a distance."""
    return sum(bool(len(those)) and np.abs(those - place).min() <= within for place in these)


def measure_agreement(quick: bool, ordered: bool) -> None:
    rows: list[dict[str, object]] = []
    totals = np.zeros(4, int)
    for name, recording in motion_sets(quick):
        X, labels = prepare(recording)
        rate = round(1 / float(np.median(np.diff(recording.times))))
        whole = segment_at_once(MODEL, X, time_scale=rate)
        online = OnlineSegmentation(MODEL, time_scale=rate)
        for start in range(0, len(X), rate):
            online.extend(X[start : start + rate])
        found = online.finish()
        spans = np.diff([0, *found.boundaries, len(X)])
        counts = [near(whole, found.boundaries, rate), len(whole), near(found.boundaries, whole, rate),
                  len(found.boundaries)]  # fmt: skip
        totals += counts
        truth = boundaries_from_labels(labels)
        row: dict[str, object] = {
            "set": name, "n": len(X), "per second": rate, "at once": counts[1], "of them online": counts[0],
            "online": counts[3], "of them at once": counts[2], "true": len(truth),
            "F1 at once": boundary_f1(truth, whole, margin=rate),
            "F1 online": boundary_f1(truth, found.boundaries, margin=rate),
            "labels": f"{found.labels.max() + 1}/{len(np.unique(labels))}",
            "accuracy": 1 - clustering_error(labels, np.repeat(found.labels, spans)),
        }  # fmt: skip
        if ordered:
            cut = OSC(cut="ordered", dictionary="landmarks", random_state=0).fit(X).boundaries_
            row |= {"ordered": len(cut), "of them online ": near(cut, found.boundaries, rate),
                    "online in ordered": near(found.boundaries, cut, rate),
                    "F1 ordered": boundary_f1(truth, cut, margin=rate)}  # fmt: skip
        rows.append(row)
        print_table(rows[-1:])
    print_table(rows)
    print(f"{totals[0]} of {totals[1]} boundaries found at once are found online within a second "
          f"({totals[0] / totals[1]:.1%}); {totals[2]} of {totals[3]} found online are found at once "
          f"({totals[2] / totals[3]:.1%}). Mean F1 against the labels: at once "
          f"{np.mean([row['F1 at once'] for row in rows]):.3f}, online "  # type: ignore[misc]
          f"{np.mean([row['F1 online'] for row in rows]):.3f}.")  # type: ignore[misc]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("rate", "agreement"), nargs="?", default="rate")
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--ordered", action="store_true", help="also compare with fit and its ordered cut")
    parser.add_argument("--quick", action="store_true", help="one short recording only")
    options = parser.parse_args()
    print(describe_machine())
    if options.what == "rate":
        measure_rate(options.samples)
    else:
        measure_agreement(options.quick, options.ordered)


if __name__ == "__main__":
    main()
