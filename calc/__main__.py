"""The command line: `python -m calc COMMAND`, or `headroom COMMAND` once it is installed.

`python -m calc scenarios.csv` without a command estimates. `python -m calc --help` lists the
commands, which `calc/commands/command.py` names; each has `--help`.
"""

import argparse
import signal
import sys
from errno import EDQUOT, ENOSPC
from pathlib import Path

from calc import CatalogError, add_models, load_catalogs
from calc.catalogs.load import Catalogs, catalog_ids
from calc.commands.command import COMMANDS, INTERRUPTED, UNUSABLE, columns_of_flags
from calc.files.configs.problem import ConfigProblem
from calc.files.hub import model_of, read_repository
from calc.files.model_configs import added_models
from calc.files.oom.explain import LogProblem
from calc.files.simulated_models import with_simulated
from calc.files.streams import forget_standard_output
from calc.models.foreign import free_id
from calc.models.huggingface.config import ConfigError
from calc.scenarios.problems import TableError

OUT_OF_MEMORY = (
    "This needs more memory than there is: split the table, or compare fewer values at once."
)


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return 0, or 2 for unusable input, 130 when interrupted.

    `gate` returns 3 when a row is over a limit, `launch` when its plan does not run or fit.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    name = words.pop(0) if words and words[0] in COMMANDS else ""
    command = COMMANDS[name or "estimate"]
    columns, words = columns_of_flags(words) if command.takes_columns else ({}, words)
    module = command.load()
    parser = _parser(name)
    module.add_arguments(parser)
    options = parser.parse_args(words, argparse.Namespace(columns=columns))
    is_stream = options.output == "-"
    target = "standard output" if is_stream else options.output
    try:
        return module.main(options, _catalogs(options))
    except (TableError, CatalogError, ConfigError, ConfigProblem, LogProblem) as error:
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        state = "ends where it was" if is_stream else "was left as it was"
        print(f"Interrupted; {target} {state}.", file=sys.stderr)
        return INTERRUPTED
    except MemoryError:
        print(OUT_OF_MEMORY, file=sys.stderr)
    except OSError as error:
        if is_stream and error.filename is None:
            forget_standard_output()
        if isinstance(error, BrokenPipeError):
            return 0
        cure = "make room there" if error.errno in (ENOSPC, EDQUOT) else "check the path"
        print(f"{error.filename or target}: {error.strerror}; {cure}.", file=sys.stderr)
    return UNUSABLE


def _catalogs(options: argparse.Namespace) -> Catalogs:
    """Return the catalogs with the models that were simulated here or named on the command line."""
    catalogs = with_simulated(load_catalogs())
    for sentence in catalogs.left_out:
        print(sentence, file=sys.stderr)
    if not options.model and not options.model_config:
        return catalogs
    of_hub = {
        free_id(model_of(name), catalog_ids(catalogs)): read_repository(name, catalogs)
        for name in options.model
    }
    return add_models(catalogs, of_hub | dict(added_models(options.model_config, catalogs)))


def _parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of a command, or of the program if `name` is empty."""
    program = "headroom" if Path(sys.argv[0]).name.startswith("headroom") else "python -m calc"
    parser = argparse.ArgumentParser(
        prog=f"{program} {name}".strip(),
        description=COMMANDS[name].purpose if name else _overview(program),
        formatter_class=(argparse.HelpFormatter if name else argparse.RawDescriptionHelpFormatter),
    )
    output = "file or folder to write (default: standard output)"
    parser.add_argument("-o", "--output", default="-", help=output)
    config = "add a model: a Hugging Face config.json, or a folder of them"
    parser.add_argument("--model-config", action="append", default=[], metavar="PATH", help=config)
    hub = "add a model of the Hugging Face hub; rows name it by its name in lower case"
    parser.add_argument("--model", action="append", default=[], metavar="ORG/NAME", help=hub)
    return parser


def _overview(program: str) -> str:
    """Return the table of commands for the help of the program."""
    lines = [f"  {name:10} {command.purpose}" for name, command in COMMANDS.items()]
    return "\n".join(
        (
            "Plan GPU memory and AWS cost.",
            "",
            *lines,
            "",
            f"{program} COMMAND --help describes a command. Without a command, the scenarios of a",
            "table are estimated.",
        )
    )


def run() -> None:
    """Run the program: the entry point of `headroom`."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())


if __name__ == "__main__":
    run()
