"""`python -m calc scenarios.csv -o estimates.csv`: scenarios in, results out.

`python -m calc estimate 'scenarios-*.parquet' -o folder`: the same of many files, here or on a Dask
cluster. `python -m calc answer jobs.csv -o answers.csv`: a table of jobs in, what to rent for each
of them out. `python -m calc import FILE... -o scenarios.csv`: configs of training and serving tools
in, a scenario for each run out. `python -m calc launch plan.csv -o folder`: a scenario in, the
files that start it out. `python -m calc calibrate LOG... plan.csv -o calibration.yaml`: logs of
runs in, what they say of the estimate out. `python -m calc simulate config.json`: what a model's
own class keeps, read off on this machine. `schedule`, `tuned`, `show`, `serve-mcp`, `oom`, `diff`,
`gate` and `solve`: see --help.
"""

import argparse
import signal
import sys
from errno import EDQUOT, ENOSPC

from calc import CatalogError, add_models, load_catalogs
from calc.commands.command import (
    INTERRUPTED,
    UNUSABLE,
    Command,
    argument_type,
    columns_of_flags,
    every_command,
)
from calc.files.configs.problem import ConfigProblem
from calc.files.hub import model_of, read_repository
from calc.files.model_configs import added_models
from calc.files.oom.explain import LogProblem
from calc.files.simulated import with_simulated
from calc.files.streams import forget_standard_output
from calc.models.huggingface.config import ConfigError
from calc.scenarios.problems import TableError


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return 0, or 2 for unusable input, 130 when interrupted.

    `gate` returns 3 when a row is over a limit, `launch` when its plan does not run or fit.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    name = words[0] if words and words[0] in every_command() else ""
    command = every_command()[name]
    columns, words = columns_of_flags(words) if command.takes_columns else ({}, words)
    options = _parser(name, command).parse_args(
        words[1:] if name else words, argparse.Namespace(columns=columns)
    )
    target = "standard output" if options.output == "-" else options.output
    try:
        catalogs = with_simulated(load_catalogs())
        if options.model or options.model_config:
            models = {model_of(name): read_repository(name, catalogs) for name in options.model}
            catalogs = add_models(
                catalogs, models | dict(added_models(options.model_config, catalogs))
            )
        return command.start(options, catalogs)
    except (TableError, CatalogError, ConfigError, ConfigProblem, LogProblem) as error:
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        print(
            (
                f"Interrupted; {target} "
                f"{'ends where it was' if options.output == '-' else 'was left as it was'}."
            ),
            file=sys.stderr,
        )
        return INTERRUPTED
    except MemoryError:
        print(
            (
                "This needs more memory than there is: split the table, or compare fewer values "
                "at once."
            ),
            file=sys.stderr,
        )
    except OSError as error:
        if options.output == "-" and error.filename is None:
            forget_standard_output()
        if isinstance(error, BrokenPipeError):
            return 0
        cure = "make room there" if error.errno in (ENOSPC, EDQUOT) else "check the path"
        print(f"{error.filename or target}: {error.strerror}; {cure}.", file=sys.stderr)
    return UNUSABLE


def _parser(name: str, command: Command) -> argparse.ArgumentParser:
    """The options of a command; -o, --model-config and --model are those of all."""
    more = (
        (
            f"Other commands: {', '.join(filter(None, every_command()))}; python -m calc COMMAND "
            f"--help."
        )
        if not name
        else None
    )
    parser = argparse.ArgumentParser(
        prog=f"python -m calc {name}".strip(), description=command.about, epilog=more
    )
    for argument, details in command.arguments.items():
        parser.add_argument(
            argument,
            **{
                **details,
                **({"type": argument_type(details["type"])} if "type" in details else {}),
            },
        )
    parser.add_argument("-o", "--output", default="-", help="what to write; none: standard output")
    config = "a Hugging Face config.json, or a folder of them"
    parser.add_argument("--model-config", action="append", default=[], metavar="PATH", help=config)
    hub = "a model of the Hugging Face hub; rows name it by its name in lower case"
    parser.add_argument("--model", action="append", default=[], metavar="ORG/NAME", help=hub)
    return parser


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
