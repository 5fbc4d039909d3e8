"""A request in words: the same on the command line and in a TOML file."""
