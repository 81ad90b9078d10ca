"""Numbers, places, settings, changes and verdicts in words, each by one function."""
