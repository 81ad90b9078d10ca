"""`python -m calc show "llama-3.1-8b lora on g6e.xlarge"`: one estimate as text or JSON."""

import argparse
import contextlib
import json
from pathlib import Path

from calc.catalogs.load import Catalogs
from calc.commands.command import OVER_THE_LIMIT, UNUSABLE, tell, write_result
from calc.commands.imports import content_of, named_files
from calc.commands.oom import explained_alone
from calc.commands.sheet import as_mapping, data_lines, sheet
from calc.files.imported_run import Documents
from calc.files.oom.log_problem import LogProblem
from calc.files.request import PASTED, request_of
from calc.files.request_answer import OpenQuestions, answer_request


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `show`."""
    words = "a description in plain words, or files (join the files of one run with +)"
    parser.add_argument("words", metavar="WORDS", nargs="*", help=words)
    json_help = "print every column that has a value, for programs"
    parser.add_argument("--json", action="store_true", help=json_help)
    assume = "answer with stated assumptions where the words leave something open"
    parser.add_argument("--assume", action="store_true", help=assume)
    parser.epilog = "Exit status 3: the words leave something open; the questions are printed."


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write one estimate of words, files and columns."""
    documents = [(name, content_of(name)) for word in options.words for name in _files(word)]
    prose = " ".join(word for word in options.words if not _files(word))
    documents += [(PASTED, prose.encode())] if prose else []
    request = request_of(documents, catalogs, options.columns)
    if request.kinds == ("log",) and not request.columns and not options.json:
        with contextlib.suppress(LogProblem):  # a benchmark has no error to explain
            return write_result(options, _explain_logs(documents, catalogs))
    try:
        result = answer_request(request, options.assume)
    except OpenQuestions as error:
        print("".join(f"{line}\n" for line in data_lines(request)), end="")
        for question in error.questions:
            choices = f" ({' · '.join(question.choices)})" if question.choices else ""
            tell(f"{question.text}{choices}")
        if error.problem and error.problem not in {one.text for one in error.questions}:
            tell(error.problem)
        return OVER_THE_LIMIT if error.questions else UNUSABLE
    text = (
        json.dumps(as_mapping(result, request), indent=1, default=float)
        if options.json
        else "\n".join(sheet(result, request))
    )
    return write_result(options, f"{text}\n")


def _explain_logs(documents: Documents, catalogs: Catalogs) -> str:
    """Return what `oom` finds in logs without their plan."""
    names = "+".join(name for name, _ in documents)
    text = "\n".join(content.decode("utf-8", "replace") for _, content in documents)
    return explained_alone(names, text, catalogs)


def _files(word: str) -> list[str]:
    """The files that a word names, several joined by + or in a folder; none of any other word."""
    names = named_files(word)
    return names if all(Path(name).is_file() for name in names) else []
