"""`python -m calc show "llama-3.1-8b lora on g6e.xlarge"`: one estimate as text or JSON."""

import argparse
import json
from pathlib import Path

from calc.catalogs.load import Catalogs
from calc.commands.command import write_result
from calc.commands.imports import content_of, named_files
from calc.commands.sheet import as_mapping, sheet
from calc.files.request import PASTED, answered, request_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `show`."""
    words = "a description in plain words, or files (join the files of one run with +)"
    parser.add_argument("words", metavar="WORDS", nargs="*", help=words)
    json_help = "print every column that has a value, for programs"
    parser.add_argument("--json", action="store_true", help=json_help)


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write one estimate of words, files and columns."""
    documents = [(name, content_of(name)) for word in options.words for name in _files(word)]
    prose = " ".join(word for word in options.words if not _files(word))
    documents += [(PASTED, prose.encode())] if prose else []
    request = request_of(documents, catalogs, options.columns)
    result = answered(request)
    text = (
        json.dumps(as_mapping(result, request), indent=1, default=float)
        if options.json
        else "\n".join(sheet(result, request))
    )
    return write_result(options, f"{text}\n")


def _files(word: str) -> list[str]:
    """The files that a word names, several joined by + or in a folder; none of any other word."""
    names = named_files(word)
    return names if all(Path(name).is_file() for name in names) else []
