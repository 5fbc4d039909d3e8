"""The words themselves: which there are, and of which kind each is."""

QUERIES = ("count", "counts", "sum", "mean", "choice", "bins", "items")
CROSSED = ("nested", "table", "margins", "by-cell")  # and tables of them
GROUPS = ("by", "groups", "other", "missing-group", "max-groups", "no-group-sizes")
SIZES = ("unweighted-size", "effective-size")
YES = ("row-is-person", "no-group-sizes", "quote-newlines", "ignore-case", "i-know", *SIZES)
LISTS = tuple(name for name in (*QUERIES, *CROSSED) if name not in ("counts", "margins"))
LISTS = (*LISTS, "importance", "unit", "by", "groups", "where", "missing")  # may be said again
_SIZE = ("size-importance", "size-dial")
WHO = ("where", "missing", "neighbors", "weight", *SIZES)
RULES = ("at-most", "split", *GROUPS, "discover-delta", *WHO, *_SIZE, "objective")
BUDGET = ("epsilon", "delta", "mu", "rho", "rdp", "one-of")
SPELLING = ("decimal", "thousands", "dates", "yes", "no", "ignore-case")
WITHIN = ("skip", "header-row", "sheet", "file-table")  # where in a file the table is
TEXT = ("dialect", "delimiter", "quote", "quote-newlines", "encoding", *SPELLING, "names", *WITHIN)
SAMPLE = ("sampling", "design-effect")
OTHERS = ("row-is-person", "known-size", "level", *SAMPLE, "noise", "i-know")
WORDS = (*QUERIES, *CROSSED, "importance", "unit", *RULES, *BUDGET, *TEXT, *OTHERS)
