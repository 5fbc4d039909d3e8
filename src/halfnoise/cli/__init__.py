"""The command ``halfnoise``."""

from halfnoise.cli.commands import main

__all__ = ["main"]
