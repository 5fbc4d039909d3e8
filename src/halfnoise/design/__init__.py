"""Designs: which noise to add to what. Pure; no design ever sees data."""
