"""Numbers, places, settings, changes and verdicts in words, one function for each."""
