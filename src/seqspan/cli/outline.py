"""What ``seqspan --help`` shows: the program's options, and one sentence for each command.

Loading the commands themselves takes seconds, because their options list methods, cuts and formats.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import seqspan
from seqspan.cli import INTERRUPTED, STOPPED, raise_interrupts

WIDTH = {"max_content_width": 100}

#: What every command does, in the order of the help.
SUMMARIES = {
    "segment": "Segment files, folders or patterns: writes tables and a report.",
    "apply": "Find the labels of an earlier result in new recordings.",
    "export": "Export a result, also with spans corrected by hand.",
    "watch": "Follow rows that arrive: a JSON line for every span.",
    "info": "Show versions, devices, methods and formats.",
    "demo": "Render a clip, segment it, correct a boundary, export it.",
    "reproduce": "Run an experiment of the paper: rows, figures, a summary. A killed run resumes.",
}


class Commands(TyperGroup):
    """All commands, each of which Ctrl-C ends with one line."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            raise_interrupts()
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo(f"seqspan: error: {STOPPED}", err=True)
            raise typer.Exit(INTERRUPTED) from None


def make_app() -> typer.Typer:
    """The program without its commands."""
    app = typer.Typer(
        cls=Commands,
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=WIDTH,
        help="Divide recordings into spans, and recognise those that return.\n\n"
        "Example: seqspan segment film.mp4, then open film.seqspan/report.html",
    )
    app.callback()(options)
    return app


def show_version(wanted: bool) -> None:
    """Print the version and exit, if requested."""
    if wanted:
        typer.echo(f"seqspan {seqspan.__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """Options of the program itself."""


def make_outline() -> typer.Typer:
    """The program with commands that can be listed, but not run."""
    app = make_app()
    for name, summary in SUMMARIES.items():
        app.command(name, help=summary)(_nothing)
    return app


def _nothing() -> None:
    """Do nothing."""
