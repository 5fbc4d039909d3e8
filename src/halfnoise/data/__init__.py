"""The only rooms that see rows: from a file or a frame to exact totals."""
