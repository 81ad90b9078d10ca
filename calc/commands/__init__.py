"""The commands of `python -m calc`, listed in `command.py`: one module each."""
