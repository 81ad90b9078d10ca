"""The runs of files that people bring: configs and commands, else a log."""

from calc.catalogs.load import Catalogs
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.run import Run, read_runs
from calc.files.configs.texts import checked_text
from calc.files.oom.command_in_log import printed_command
from calc.files.oom.run_in_log import printed_run


def runs_of_files(
    documents: list[tuple[str, bytes]], catalogs: Catalogs, model: str = "", objective: str = ""
) -> list[Run]:
    """The runs of some files (name, bytes); raises ConfigProblem.

    A log that holds no config or command is of the run that its engine or trainer prints.
    """
    try:
        return read_runs(documents, catalogs, model, objective)
    except ConfigProblem:
        logged = _run_of_log(*documents[0]) if len(documents) == 1 else []
        if not logged:
            raise
        return read_runs(logged, catalogs, model, objective)


def _run_of_log(file: str, content: bytes) -> list[tuple[str, bytes]]:
    """The files of the run that an engine or a trainer prints in its log; none in another text."""
    text = checked_text(content, file)
    command = printed_command(text)
    return [(file, command.encode())] if command else printed_run(file, text)
