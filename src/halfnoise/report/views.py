"""What the rooms below show of themselves: in a notebook, as charts, as a page."""

from halfnoise.report.notebook import notebook
from halfnoise.report.page import page
from halfnoise.report.plots import plotted

__all__ = ["notebook", "page", "plotted"]
