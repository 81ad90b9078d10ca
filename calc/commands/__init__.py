"""The commands of `python -m calc` (commands.yaml): the `main` of a module runs one."""
