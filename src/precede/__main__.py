"""``python -m precede``."""

from precede.cli import main

main()
