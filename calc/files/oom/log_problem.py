"""The refusal of a log or an out-of-memory text."""


class LogProblem(ValueError):
    """The text cannot be read; the message says why, and what to paste instead."""
