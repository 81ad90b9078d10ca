"""Logs of one's own runs, read as what they say of the estimate's error."""
