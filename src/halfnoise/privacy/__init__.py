"""Privacy definitions: what is promised, and how promises convert and add up."""
