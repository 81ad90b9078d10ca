"""The refusal of a config, and the limits on what is read."""

LARGEST_BYTES = 1_000_000
DEEPEST = 30
MOST_DOCUMENTS = 20  # in one run
MOST_FIELDS = 5_000  # in one file
LONGEST_VALUE = 20_000  # characters, once variables and references are filled in
MOST_COMMANDS, MOST_WORDS = 2_000, 10_000  # in one script
LONGEST_SCRIPT = 200_000  # characters


class ConfigProblem(ValueError):
    """One sentence: what is wrong, where, and what to do."""
