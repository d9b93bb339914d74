"""``python -m seqspan`` is the command line."""

from seqspan.cli import main

main()
