"""Speed, memory and robustness of the readers.

    python -m benchmarks.readers video [--minutes 60]   speed compared with bare PyAV, cost of a process of
                                                        its own, peak resident memory
    python -m benchmarks.readers csv [--rows 1000000]   time compared with polars alone
    python -m benchmarks.readers fuzz [--variants 200]  damaged variants of every format, and of the real
                                                        recordings if $SEQSPAN_DATA is set

Without a command, all three run at toy size. `video` fails below half the speed of PyAV, above 600 MB, or if
a process of its own costs more than 10 %; `csv` fails if it takes more than 1.3 times as long as polars. At
toy size only `fuzz` can fail.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

WIDTH, HEIGHT, RATE = 640, 360, 25
REPEATS = 3  # of which the fastest counts: other programs only make it slower
HANG_SECONDS = 60  # for one variant
BLOW_UP_BYTES = 600e6  # of resident memory


def write_film(path: Path, seconds: float) -> None:
    """Encode drifting noise, in H.264 if FFmpeg can, at 640 x 360 and 25 frames per second."""
    import av

    rng = np.random.default_rng(0)
    texture = rng.integers(0, 256, (HEIGHT // 8, 2 * WIDTH // 8), dtype=np.uint8).repeat(8, 0).repeat(8, 1)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264" if "libx264" in av.codecs_available else "mpeg4", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.options = {"preset": "ultrafast"}
        for number in range(int(seconds * RATE)):
            shift = (number // (10 * RATE) * 97 + number) % WIDTH
            frame = av.VideoFrame.from_ndarray(
                np.ascontiguousarray(texture[:, shift : shift + WIDTH]), "gray"
            )
            container.mux(stream.encode(frame.reformat(format="yuv420p")))
        container.mux(stream.encode())


def decode_bare(path: Path) -> int:
    """Decode and scale with PyAV as fast as possible, with one scaler for all frames, and keep nothing.

    ``frame.reformat`` makes a new scaler for every frame and would be far slower.
    """
    import av
    from av.video.reformatter import VideoReformatter

    count, scaler = 0, VideoReformatter()
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        for frame in container.decode(stream):
            scaler.reformat(frame, width=129, height=96, format="gray")
            count += 1
    return count


def read_in_process(path: Path, how: str) -> dict[str, Any]:
    """Read a film in a new process; return the time and the peak resident memory."""
    command = [sys.executable, "-m", "benchmarks.readers", "film", str(path), how]
    done = subprocess.run(command, check=True, capture_output=True)
    return dict(json.loads(done.stdout))


def film_worker(path: str, how: str) -> None:
    """Read a film and print time, memory and notes; called in a separate process."""
    from seqspan.readers import read, video

    if how == "here":
        video.stream = stream_here
    start = time.perf_counter()
    recording = read(path)
    seconds = time.perf_counter() - start
    entry = {"seconds": seconds, "rows": len(recording), "notes": recording.notes, "peak": peak_memory()}
    print(json.dumps(entry))


def stream_here(task: str, path: str, selection: dict[str, Any]) -> Iterator[Any]:
    """Decode as the other process does, but in this one and without a pipe."""
    from seqspan.readers import _films
    from seqspan.readers._streams import Frame, Result

    wanted = _films.Selection(**selection)
    with _films.open_film(path) as container:
        stream = _films.first_stream(container)
        clock, scaler = _films.Clock(stream), _films.Scaler(wanted)
        for seconds, frame in _films.selected_frames(container, stream, clock, wanted):
            yield Frame(seconds, scaler.scale(frame))
        yield Result({"problem": "", "notes": scaler.notes() + clock.notes()})


def bench_video(minutes: float) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "film.mp4")
        write_film(path, 60 * minutes)
        start = time.perf_counter()
        n_frames = decode_bare(path)
        bare = time.perf_counter() - start
        here = min(read_in_process(path, "here")["seconds"] for _ in range(REPEATS))
        ours = min((read_in_process(path, "apart") for _ in range(REPEATS)), key=lambda run: run["seconds"])
    cost = ours["seconds"] / here - 1
    share = bare / ours["seconds"]
    print(f"video: {minutes:g} min of {WIDTH} x {HEIGHT}, {n_frames} frames, {ours['rows']} rows kept")
    speeds = f"bare PyAV {n_frames / bare:.0f} frames/s, read {n_frames / ours['seconds']:.0f}"
    print(f"  {speeds} ({share:.2f} times)")
    print(f"  in one process {n_frames / here:.0f} frames/s: a process of its own costs {100 * cost:.0f} %")
    print(f"  peak resident memory {ours['peak'] / 1e6:.0f} MB; notes: {ours['notes']}")
    return share >= 0.5 and ours["peak"] < 600e6 and cost <= 0.1


def bench_csv(n_rows: int) -> bool:
    import polars as pl

    from seqspan.readers import read

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        X = np.random.default_rng(0).normal(size=(n_rows, 64))
        pl.DataFrame(X, schema=[f"sensor_{number}" for number in range(64)]).write_csv(path)
        del X
        path.read_bytes()  # so that the first reader does not wait for the disk
        seconds: dict[str, list[float]] = {"polars": [], "read": []}
        for _ in range(3):
            for name, function in (("polars", pl.read_csv), ("read", read)):
                start = time.perf_counter()
                function(path)
                seconds[name].append(time.perf_counter() - start)
    ratio = min(seconds["read"]) / min(seconds["polars"])
    best = {name: f"{min(values):.2f} s" for name, values in seconds.items()}
    print(f"csv: {n_rows} x 64, best of three: {best}, ratio {ratio:.2f}")
    return ratio <= 1.3


def peak_memory() -> float:
    """Return the peak resident memory of this process or of one that it started, in bytes.

    The operating system counts it; ru_maxrss would start at what the parent process held.
    """
    import resource

    status = Path("/proc/self/status").read_text()
    own = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return 1024.0 * max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def fuzz_worker(damaged: str, target: str, first: int, last: int) -> None:
    """Damage a file and read the target for every seed; print one line of JSON before and after each."""
    from tests.readers.corrupted import corrupt

    from seqspan.readers import read

    path, lenders = Path(damaged), json.loads(sys.stdin.read())
    content = path.read_bytes()
    for seed in range(first, last):
        path.write_bytes(corrupt(content, bytes.fromhex(lenders[seed % len(lenders)]), seed))
        print(json.dumps({"seed": seed}), flush=True)
        start = time.perf_counter()
        try:
            read(target)
            outcome = "read"
        except (ValueError, OSError) as error:
            outcome = "error" if Path(target).name in str(error) else f"unnamed: {error}"
        except BaseException as error:
            outcome = f"traceback: {type(error).__name__}: {error}"
        entry = {"outcome": outcome, "seconds": time.perf_counter() - start, "peak": peak_memory()}
        print(json.dumps({"seed": seed, **entry}), flush=True)


def fuzz_file(damaged: Path, target: Path, lenders: list[str], n_variants: int) -> dict[str, Any]:
    """Run the worker over all variants; start it again after one that ends it."""
    content, first = damaged.read_bytes(), 0
    results: dict[int, dict[str, Any]] = {}
    while first < n_variants:
        damaged.write_bytes(content)
        worker = [sys.executable, "-m", "benchmarks.readers", "worker", str(damaged), str(target)]
        command = [*worker, str(first), str(n_variants)]
        ending, lines = _run(command, json.dumps(lenders), HANG_SECONDS)
        begun = first
        for entry in map(json.loads, lines):
            begun = entry["seed"]
            if "outcome" in entry:
                results[begun] = entry
        results.setdefault(begun, {"outcome": ending, "seconds": 0.0, "peak": 0.0})
        first = begun + 1
    damaged.write_bytes(content)
    return summarise(results)


def _run(command: list[str], text: str, seconds: float) -> tuple[str, list[str]]:
    """Run a command until it prints nothing for so long; return how it ended and the lines it printed."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(text)
        process.stdin.close()
        lines, hung = [], threading.Event()
        while True:
            watch = threading.Timer(seconds, lambda: (hung.set(), process.kill()))
            watch.start()
            line = process.stdout.readline()
            watch.cancel()
            if not line.endswith("\n"):
                break
            lines.append(line)
    return "hang: stopped" if hung.is_set() else f"crash: status {process.returncode}", lines


def summarise(results: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Count outcomes; a colon marks those that must not happen."""
    outcomes = {seed: str(entry["outcome"]) for seed, entry in results.items()}
    return {
        "variants": len(outcomes),
        "read": list(outcomes.values()).count("read"),
        "error": list(outcomes.values()).count("error"),
        "bad": [f"{seed}: {outcome}" for seed, outcome in outcomes.items() if ":" in outcome],
        "slowest": max(entry["seconds"] for entry in results.values()),
        "peak": max(entry["peak"] for entry in results.values()),
    }


def fuzz_sources(folder: Path) -> dict[str, tuple[Path, Path]]:
    """Write a sample of every format, and copy the real recordings if there are any.

    Returns the file to damage and the file to read, which differ if the data are beside a header.
    """
    from tests.readers.samples import WRITERS, write_sample

    sources = {}
    for name in WRITERS:
        (folder / name).mkdir()
        sample = write_sample(name, folder / name)
        sources[name] = (sample, sample)
    header = sources["envi"][0]
    sources["envi pixels"] = (header.with_suffix(".img"), header)
    data = os.environ.get("SEQSPAN_DATA")
    (folder / "real").mkdir()
    for file in sorted(Path(data, "formats").iterdir()) if data else ():
        if file.suffix in (".amc", ".gz", ".c3d", ".bvh", ".asf"):
            copy = folder / "real" / file.name
            copy.write_bytes(file.read_bytes())
            sources[file.name] = (copy, copy)
    return sources


def bench_fuzz(n_variants: int, only: str = "") -> bool:
    fine = True
    with tempfile.TemporaryDirectory() as folder:
        sources = fuzz_sources(Path(folder))
        heads = {name: damaged.read_bytes()[:512].hex() for name, (damaged, _) in sources.items()}
        for name, (damaged, target) in sources.items():
            if only not in name:
                continue
            lenders = [head for other, head in heads.items() if other != name]
            result = fuzz_file(damaged, target, lenders, n_variants)
            fine = fine and not result["bad"] and result["peak"] < BLOW_UP_BYTES
            print(
                f"{name:34s} {result['variants']} variants: {result['read']} read, {result['error']} errors, "
                f"{len(result['bad'])} bad, slowest {result['slowest']:.2f} s, "
                f"peak {result['peak'] / 1e6:.0f} MB",
                *result["bad"],
                flush=True,
            )
    return fine


def main() -> int:
    if sys.argv[1:2] == ["worker"]:
        fuzz_worker(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
        return 0
    if sys.argv[1:2] == ["film"]:
        film_worker(sys.argv[2], sys.argv[3])
        return 0
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", nargs="?", choices=["video", "csv", "fuzz"])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--variants", type=int, default=200)
    parser.add_argument("--only", default="", help="damage only formats with this in their name")
    given = parser.parse_args()
    if given.command == "video":
        return int(not bench_video(given.minutes))
    if given.command == "csv":
        return int(not bench_csv(given.rows))
    if given.command == "fuzz":
        return int(not bench_fuzz(given.variants, given.only))
    bench_video(0.1)
    bench_csv(1000)  # at toy size, set-up takes longer than reading: speed is shown, not judged
    return int(not bench_fuzz(2))


if __name__ == "__main__":
    raise SystemExit(main())
