"""Pictures of what the noise does, for which the extra ``[report]`` brings the packages."""

from halfnoise.report.figures import draw_figures

__all__ = ["draw_figures"]
