"""The command line: parse, call, print."""

from seqspan.cli.commands import app as app

__all__: list[str] = []
