"""The command line: parse, call, print.

Exit status: 0 if all went well, 1 if an input failed, 2 if the command is wrong, 3 if `watch --until` saw its
label, 130 after Ctrl-C.
"""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from seqspan._core.checks import check_choice
from seqspan._core.spans import MIN_LENGTH
from seqspan._core.text import count_of, noun_of, percent, printable
from seqspan.cli import INTERRUPTED, STOPPED
from seqspan.cli.inputs import Job, expand, make_jobs
from seqspan.cli.outline import SUMMARIES, make_app
from seqspan.cli.segment import Outcome, run_job, versions
from seqspan.cli.settings import Control, Settings, make_settings, parse_exports, save_config, with_options
from seqspan.cli.values import parse_numbers
from seqspan.cuts import CUTS
from seqspan.cuts.ordered.n_spans import GRAINS
from seqspan.datasets._folder import VARIABLE
from seqspan.exports import EXPORTS
from seqspan.exports.selection import SPLIT_FOLDER, Selection
from seqspan.methods._defaults import METHODS
from seqspan.readers import readers
from seqspan.recording import KINDS
from seqspan.results.folder import REPORT

FAILED, WRONG_USAGE, HAPPENED = 1, 2, 3
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="print nothing but errors")]


app = make_app()


def show_all_help(context: typer.Context, wanted: bool) -> None:
    """Print the help with the options of experts and exit, if requested."""
    if wanted:
        for parameter in context.command.params:
            if hasattr(parameter, "hidden"):
                parameter.hidden = False
        typer.echo(context.get_help())
        raise typer.Exit


@app.command(
    help=SUMMARIES["segment"], epilog="Example: seqspan segment 'walks/*.amc' --export elan --jobs 2"
)
@with_options(Settings, Control)
def segment(
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT", hidden=True)],
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Dask scheduler whose workers see the same files", hidden=True),
    ] = None,
    help_all: Annotated[
        bool,
        typer.Option("--help-all", callback=show_all_help, is_eager=True, help="show all options and exit"),
    ] = False,
    **given: Any,
) -> None:
    """Segment files, folders or patterns: writes tables and a report."""
    control = Control(**{f.name: given.pop(f.name) for f in fields(Control)})
    settings, sources = prepare(inputs, given, control)
    at_once = 1 if settings.together else settings.jobs
    threads = None if at_once == 1 else max(1, (os.cpu_count() or 1) // at_once)
    level = 0 if control.quiet or at_once > 1 or cluster is not None else 1 + control.verbose
    failed = False
    jobs = make_jobs(sources, settings, 1 if cluster is not None else threads, level)
    for outcome in run_all(jobs, control.fresh, cluster):
        failed |= outcome.status == "failed"
        tell(outcome, control)
    raise typer.Exit(FAILED if failed else 0)


def prepare(inputs: list[str], given: dict[str, Any], control: Control) -> tuple[Settings, list[Path]]:
    """Check the command before reading anything, and exit with a one-line error if it is wrong."""
    try:
        settings = make_settings(given, None if control.config is None else Path(control.config))
        sources = expand(inputs)
        for flag, file in (("--truth", settings.truth), ("--segments", settings.segments)):
            if file is not None and len(sources) > 1 and not settings.together:
                raise ValueError(f"{flag} is for one input; got {len(sources)} inputs.")
        if control.save_config is not None:
            save_config(settings, Path(control.save_config))
    except ValueError as error:
        stop(str(error), WRONG_USAGE)
    except OSError as error:
        stop(str(error), FAILED)
    return settings, sources


def run_all(jobs: Sequence[Job], fresh: bool, cluster: str | None = None) -> Iterator[Outcome]:
    """Run every job, several at a time if requested; a failed job does not stop the others."""
    at_once = min(jobs[0].settings.jobs, len(jobs))
    run = partial(run_job, fresh=fresh)
    try:
        if cluster is not None:
            yield from run_there(jobs, fresh, cluster)
        elif at_once == 1:
            yield from (run_guarded(job, run) for job in jobs)
        else:
            import joblib

            parallel = joblib.Parallel(n_jobs=at_once, return_as="generator_unordered")
            yield from parallel(joblib.delayed(run_guarded)(job, run) for job in jobs)
    except KeyboardInterrupt:
        stop(STOPPED, INTERRUPTED)


def run_there(jobs: Sequence[Job], fresh: bool, cluster: str) -> Iterator[Outcome]:
    """Run the jobs on a Dask cluster, under paths that mean the same there."""
    from seqspan.solvers.cluster.files import map_on_cluster

    def give_up(job: Job, error: Exception) -> Outcome:
        return Outcome(job.name, job.folder, {}, "failed", one_line(f"{job.name}: {error}"))

    there = [
        replace(
            job, source=job.source.resolve(), folder=job.folder.resolve(),
            others=tuple(other.resolve() for other in job.others),
        )
        for job in jobs
    ]  # fmt: skip
    try:
        yield from map_on_cluster(
            partial(run_guarded, run=partial(run_job, fresh=fresh)), there, cluster, give_up
        )
    except (ImportError, OSError) as error:
        stop(str(error), FAILED)


def run_guarded(job: Job, run: Callable[[Job], Outcome]) -> Outcome:
    """Run a job and report any error in one line."""
    try:
        return run(job)
    except (ValueError, OSError, MemoryError) as error:
        message = str(error) or type(error).__name__
    except Exception as error:  # a bug in seqspan; the other inputs still get their results
        if job.level > 1:
            traceback.print_exc()
        message = f"{job.name}: unexpected {type(error).__name__}: {error}; --verbose shows where."
    if job.name not in printable(message):
        message = f"{job.name}: {message}"
    return Outcome(job.name, job.folder, {}, "failed", one_line(message))


def tell(outcome: Outcome, control: Control) -> None:
    """Print the outcome: errors and notes to standard error, the result to standard output."""
    if outcome.status == "failed":
        typer.echo(f"seqspan: error: {outcome.error}", err=True)
    if control.json:
        summary = {"name": outcome.name, "status": outcome.status, "folder": printable(str(outcome.folder))}
        typer.echo(
            json.dumps(summary | ({"error": outcome.error} if outcome.error else dict(outcome.document)))
        )
    elif outcome.status != "failed" and not control.quiet:
        typer.echo(summarise(outcome))
    if not control.quiet:
        about = outcome.document
        for note in (*about.get("input", {}).get("notes", ()), *about.get("warnings", ()), *outcome.notes):
            typer.echo(f"seqspan: note: {outcome.name}: {one_line(note)}", err=True)


def summarise(outcome: Outcome) -> str:
    """Describe in one line what was found, how well it was solved, and where the report is."""
    document = outcome.document
    noun = noun_of(document["input"]["kind"])
    spans, labels = count_of(document["n_spans"], "span"), count_of(document["n_subspaces"], noun)
    what = f"{spans} of {labels}"
    if "states" in document:
        what += f" as in {printable(document['states']['path'])}"
        unknown = document["states"]["unknown"]
        what += f", {percent(unknown)} of the samples unknown" if unknown else ""
    else:
        what += f", solved to within {100 * document['gap']:.2g} % of the optimum"
    before = {
        "solved": "",
        "applied": "",
        "recut": " (solved before, only cut again)",
        "unchanged": " (nothing has changed since the last run)",
    }
    table = document["settings"]["segments"]
    if table is not None:
        what += f", corrected by {printable(table)}"
    where = outcome.folder if document["settings"]["no_report"] else outcome.folder / REPORT
    return f"{outcome.name}: {what}{before[outcome.status]}: {printable(str(where))}"


def one_line(text: str) -> str:
    """Join lines and make control characters visible."""
    return printable(" ".join(text.split()))


def stop(message: str, status: int) -> NoReturn:
    """Print an error in one line and exit."""
    typer.echo(f"seqspan: error: {one_line(message)}", err=True)
    raise typer.Exit(status)


def read_exports(formats: str | None) -> list[str]:
    """Names of exports, checked before anything is read."""
    names = parse_exports(formats)
    try:
        for name in names:
            check_choice("--export", name, EXPORTS)
    except ValueError as error:
        stop(str(error), WRONG_USAGE)
    return names


@app.command(help=SUMMARIES["apply"], epilog="Example: seqspan apply walk.seqspan 'new/*.c3d' --export elan")
def apply(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="result folder, such as walk.seqspan")],
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT", help="files, folders or patterns")],
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="DIR", help="result folder; INPUT.seqspan by default")
    ] = None,
    formats: Annotated[str | None, typer.Option("--export", metavar="LIST", help=",".join(EXPORTS))] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one line of JSON per input")] = False,
    quiet: Quiet = False,
) -> None:
    """Find the labels of an earlier result in new recordings."""
    from seqspan.cli.apply import apply_job, make_apply_jobs, read_known

    read_exports(formats)
    try:
        known = read_known(result)
        jobs = make_apply_jobs(known, inputs, out, formats, 0 if quiet else 1)
    except (ValueError, OSError) as error:
        stop(str(error), FAILED)
    failed = False
    for job in jobs:
        outcome = run_guarded(job, partial(apply_job, known=known))
        failed |= outcome.status == "failed"
        tell(outcome, Control(json=as_json, quiet=quiet))
    raise typer.Exit(FAILED if failed else 0)


@app.command(
    help=SUMMARIES["export"],
    epilog="Example: seqspan export film.seqspan --segments corrected.csv --export edl --split",
)
def export(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="result folder, such as film.seqspan")],
    segments: Annotated[
        Path | None, typer.Option(metavar="FILE", help="corrected segments.csv: start and end decide")
    ] = None,
    formats: Annotated[str | None, typer.Option("--export", metavar="LIST", help=",".join(EXPORTS))] = None,
    split: Annotated[bool, typer.Option("--split", help="video: one file per span")] = False,
    quiet: Quiet = False,
) -> None:
    """Export a result, also with spans corrected by hand."""
    from seqspan.cli.export import export_result

    names = read_exports(formats)
    try:
        done = export_result(result, Selection(tuple(names), split), segments)
    except (ValueError, OSError) as error:
        stop(str(error), FAILED)
    if not quiet:
        where = printable(str(result))
        typer.echo(f"{where}: {count_of(done.n_spans, 'span')} to {describe_files(done.files)}")
        for note in done.notes:
            typer.echo(f"seqspan: note: {where}: {one_line(note)}", err=True)


def describe_files(files: Sequence[str]) -> str:
    """List exports; films of single spans may be hundreds, so they are counted.

    Examples
    --------
    >>> describe_files(["spans.edl", "split/1_A.mp4", "split/2_B.mp4"])
    'spans.edl, 2 films in split/'
    """
    films = [file for file in files if file.startswith(f"{SPLIT_FOLDER}/")]
    others = [printable(file) for file in files if file not in films]
    return ", ".join([*others, f"{count_of(len(films), 'film')} in {SPLIT_FOLDER}/"] if films else others)


@app.command(
    help=SUMMARIES["watch"],
    epilog="Example: sensors | seqspan watch - --until new --checkpoint sensors.npz",
)
def watch(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="a growing file, or - for standard input")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="write events here instead")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="go on from here after the program was stopped")
    ] = None,
    states: Annotated[
        Path | None, typer.Option(metavar="RESULT", help="recognise the states of this result folder")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="LABEL|new", help="exit with status 3 after a span of this label")
    ] = None,
    patience: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="a file ends when it has not grown for so long (never)"),
    ] = None,
    grain: Annotated[str, typer.Option(metavar="NAME", help=", ".join(GRAINS))] = "default",
    min_length: Annotated[int, typer.Option(metavar="N", help="samples of the shortest span")] = MIN_LENGTH,
    n_subspaces: Annotated[int | None, typer.Option(metavar="K", help="labels at most")] = None,
    time_scale: Annotated[
        int | None, typer.Option(metavar="N", help="samples over which neighbours say the same")
    ] = None,
    kind: Annotated[str, typer.Option(metavar="NAME", help=", ".join(KINDS))] = "table",
    missing_values: Annotated[
        str | None, typer.Option(metavar="LIST", help="numbers that mean missing: -9999,-200")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Follow rows that arrive: a JSON line for every span."""
    from seqspan.cli.apply import read_vocabulary
    from seqspan.cli.watch import Options, follow

    options = Options(grain, min_length, n_subspaces, time_scale, kind)
    try:
        codes = () if missing_values is None else parse_numbers("--missing-values", missing_values)
        watched = follow(
            source, options, out, checkpoint=checkpoint, until=until, patience=patience,
            vocabulary=None if states is None else read_vocabulary(states), missing_values=codes,
        )  # fmt: skip
    except ValueError as error:
        stop(str(error), WRONG_USAGE)
    except OSError as error:
        stop(str(error), FAILED)
    for note in () if quiet else watched.notes():
        typer.echo(f"seqspan: note: {note}", err=True)
    raise typer.Exit(HAPPENED if watched.reached else 0)


@app.command(help=SUMMARIES["info"], epilog="Example: seqspan info")
def info(quiet: Quiet = False) -> None:
    """Show versions, devices, methods and formats."""
    formats = " ".join(sorted({ending for reader in readers() for ending in reader.extensions}))
    rows = {
        **versions(),
        "devices": describe_devices(),
        "methods": ", ".join(METHODS),
        "cuts": ", ".join(CUTS),
        "exports": ", ".join(EXPORTS),
        "reads": formats,
        "data sets": os.environ.get(VARIABLE) or f"not set: put the folder's path into ${VARIABLE}",
    }
    width = max(map(len, rows))
    for name, value in () if quiet else rows.items():
        typer.echo(f"{name:<{width}}  {value}")


def describe_devices() -> str:
    """List the devices: cores, and GPUs if CuPy finds any."""
    cores = f"{os.cpu_count()} CPU cores"
    try:
        import cupy

        cards = cupy.cuda.runtime.getDeviceCount()
    except Exception:  # CuPy is not installed or there is no driver, so there is no usable GPU
        return f"{cores}, no GPU"
    return f"{cores}, {cards} GPU"


@app.command(help=SUMMARIES["demo"], epilog="Example: seqspan demo --out demo.seqspan")
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="result folder")] = Path(
        "demo.seqspan"
    ),
    quiet: Quiet = False,
) -> None:
    """Render a clip, segment it, correct a boundary, export it."""
    from seqspan.cli.demo import run_demo

    try:
        found = run_demo(out, level=0 if quiet else 1)
    except (ValueError, OSError) as error:
        stop(str(error), FAILED)
    except KeyboardInterrupt:
        stop("stopped; the result is as it was before", INTERRUPTED)
    if not quiet:
        typer.echo(
            f"Found {found.what}: {'as rendered' if found.right else 'not as rendered, ' + found.wrong}."
        )
        typer.echo(f"Corrected by hand: a boundary from {found.corrected}.")
        typer.echo(f"Look at {printable(str(out / REPORT))}")
    raise typer.Exit(0 if found.right else FAILED)


@app.command(help=SUMMARIES["reproduce"], epilog="Example: seqspan reproduce synthetic --quick")
def reproduce(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="synthetic, spectra, runtime, video, mocap or all")
    ],
    quick: Annotated[bool, typer.Option("--quick", help="a few repeats and levels")] = False,
    repeats: Annotated[int | None, typer.Option(metavar="N", help="runs per number; the paper's 50")] = None,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="processes; as many as cores")] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="of a running Dask scheduler: tcp://host:8786")
    ] = None,
    data: Annotated[
        str | None, typer.Option(metavar="DIR", help=f"folder of the data sets; else ${VARIABLE}")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="folder of the results")] = Path(
        "reproduction"
    ),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only count cases and estimate time")] = False,
    redraw: Annotated[bool, typer.Option("--redraw", help="only redraw and summarise")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress bar, no summary")] = False,
) -> None:
    """Run an experiment of the paper: rows, figures, a summary. A killed run resumes."""
    from seqspan.cli import reproduce as command

    options = command.Options(out, quick, repeats, jobs, cluster, data, quiet)
    try:
        for each in command.select_experiments(name):
            if dry_run:
                typer.echo(command.describe(command.plan(each, options)))
                continue
            summary = command.redraw(each, options) if redraw else command.reproduce(each, options)
            if not quiet:
                typer.echo(summary)
    except (OSError, ImportError, RuntimeError) as error:
        stop(str(error), FAILED)
    except ValueError as error:
        stop(str(error), WRONG_USAGE)
    except KeyboardInterrupt:
        stop("stopped; finished rows are kept, and the same command continues from there", INTERRUPTED)
