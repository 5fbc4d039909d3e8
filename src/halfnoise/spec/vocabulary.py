"""The words themselves: which there are, and of which kind each is."""

QUERIES = ("count", "counts", "sum", "mean", "choice", "bins", "items")
GROUPS = ("by", "groups", "other", "max-groups", "no-group-sizes", "discover-delta")
YES = ("row-is-person", "no-group-sizes", "quote-newlines", "ignore-case", "i-know")
LISTS = (*(name for name in QUERIES if name != "counts"), "importance", "unit", "by", "groups")
LISTS = (*LISTS, "where", "missing")  # what may be said several times
SIZE = ("size-importance", "size-dial")
RULES = ("at-most", "split", *GROUPS, "where", "missing", "neighbors", *SIZE)
BUDGET = ("epsilon", "delta", "mu", "rho", "rdp", "one-of")
SPELLING = ("decimal", "thousands", "dates", "yes", "no", "ignore-case")
TEXT = ("dialect", "delimiter", "quote", "quote-newlines", "encoding", *SPELLING, "names")
OTHERS = ("row-is-person", "known-size", "level", "noise", "i-know")
WORDS = (*QUERIES, "importance", "unit", *RULES, *BUDGET, *TEXT, *OTHERS)
