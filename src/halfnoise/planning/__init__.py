"""What to expect, before any data is touched."""
