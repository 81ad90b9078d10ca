"""The runs of files that people bring: configs and commands, else the log of an engine."""

from calc.catalogs.load import Catalogs
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.run import Run, read_runs
from calc.files.configs.texts import checked_text
from calc.files.oom.command_in_log import printed_command


def runs_of_files(
    documents: list[tuple[str, bytes]], catalogs: Catalogs, model: str = "", objective: str = ""
) -> list[Run]:
    """The runs of some files (name, bytes); raises ConfigProblem.

    A log that no config or command can be read from is the run of the engine that prints it.
    """
    try:
        return read_runs(documents, catalogs, model, objective)
    except ConfigProblem:
        commands = {file: printed_command(checked_text(one, file)) for file, one in documents[:1]}
        logged = [(file, command.encode()) for file, command in commands.items() if command]
        if len(documents) != 1 or not logged:
            raise
        return read_runs(logged, catalogs, model, objective)
