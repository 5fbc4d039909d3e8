"""What came out, and how sure it is."""
