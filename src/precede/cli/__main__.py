"""``python -m precede.cli``."""

from precede.cli import main

main()
