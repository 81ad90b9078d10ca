"""The refusal of a config, and the limits on what is read."""

LARGEST_BYTES = 1_000_000
DEEPEST = 30
MOST_DOCUMENTS = 20  # in one run


class ConfigProblem(ValueError):
    """One sentence: what is wrong, where, and what to do."""
