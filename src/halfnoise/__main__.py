"""The command as a module: ``python -m halfnoise``."""

from halfnoise.cli import main

main()
