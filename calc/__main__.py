"""`python -m calc scenarios.csv -o estimates.csv`: a table of scenarios in, the same table with its results out."""

import argparse
import sys
from pathlib import Path

from calc import CatalogError, add_models, estimate, load_catalogs
from calc.doors.csv_tables import as_written, read_csv, write_csv
from calc.models.huggingface.config import ConfigError, read_config_text
from calc.scenarios.read import TableError


def main(arguments=None):
    """Returns the exit status: 0 when all rows were read, 2 when the input as a whole is unusable."""
    parser = argparse.ArgumentParser(prog="python -m calc", description="Estimate GPU memory and AWS cost of every scenario of a CSV.")
    parser.add_argument("scenarios", nargs="?", default="-", help="CSV of scenarios; - or none: standard input")
    parser.add_argument("-o", "--output", default="-", help="CSV to write; none: standard output")
    config = "a Hugging Face config.json, or a folder of them"
    parser.add_argument("--model-config", action="append", default=[], metavar="PATH", help=config)
    options = parser.parse_args(arguments)
    try:
        catalogs = load_catalogs()
        if options.model_config:
            catalogs = add_models(catalogs, dict(_configs(options.model_config, catalogs)))
        named = "standard input" if options.scenarios == "-" else options.scenarios
        content = sys.stdin.buffer.read() if options.scenarios == "-" else Path(options.scenarios).read_bytes()
        table = read_csv(content, named)
        results = as_written(estimate(table, catalogs), table)
        if options.output == "-":
            write_csv(results, sys.stdout)
        else:
            with Path(options.output).open("w", encoding="utf-8", newline="") as stream:
                write_csv(results, stream)
    except (TableError, CatalogError, ConfigError) as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    except OSError as error:
        print(f"{error.filename or options.output}: {error.strerror}; check the path.", file=sys.stderr)
        return 2
    return 0


def _configs(paths, catalogs):
    for path in map(Path, paths):
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not files:
            raise ConfigError(f"{path}: there is no *.json in this folder; put config.json files there.")
        for file in files:
            try:
                text = file.read_text(encoding="utf-8-sig")
            except UnicodeDecodeError as error:
                raise ConfigError(f"{file} is not UTF-8 text (byte {error.start}); give a config.json.") from None
            yield file.stem, read_config_text(text, file.stem, catalogs)


if __name__ == "__main__":
    sys.exit(main())
