"""``python -m seqspan.cli``."""

from seqspan.cli.app import app

app(prog_name="seqspan")
