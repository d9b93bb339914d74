"""``python -m seqspan.cli``."""

from seqspan.cli import main

main()
