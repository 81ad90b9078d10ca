"""What Headroom says of numbers, places, settings, changes and verdicts: one function for each, on screen, in files and in answers."""
