"""The command line: parse, call, print."""

from seqspan.cli.app import app

__all__ = ["app"]
