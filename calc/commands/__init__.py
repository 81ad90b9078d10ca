"""The commands of `python -m calc`: each module has what a command reads, does and writes."""
