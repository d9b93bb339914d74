"""``python -m seqspan.cli``."""

from seqspan.cli.commands import app

app(prog_name="seqspan")
