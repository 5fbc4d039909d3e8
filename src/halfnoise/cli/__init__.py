"""The command ``halfnoise``."""

from halfnoise.cli.app import main

__all__ = ["main"]
