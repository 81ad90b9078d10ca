"""Statements of a script beside the commands that are read: tests, loops, loads on a server."""

import re
from collections.abc import Sequence
from itertools import pairwise

from calc.files.configs.commands import ScriptCommand

LONGEST_ASIDE = 120  # characters
FIRST_WORDS = 8  # of a command, which say what it runs
# how an aside begins that says a test, a load on a server, or a loop
IF, LOAD, LOOP = "if", "benchmark", "for"
OF_FLAGS = "flags"  # those of a script whose defaults count
SWITCHED_OFF = "unless"  # a test that the defaults of a script's own flags decide
UNREAD = "unread"  # a file of several that says nothing that is read
OF_SETTING = re.compile(r"\w+=(?:-.*|\d+|[\w.-]+/[\w./-]+)", re.S)  # flags, a number or a model
OF_ONE_NODE = re.compile(r"--(?:node|machine)[-_]rank\b")  # a loop over the nodes of one run
BENCHMARK = re.compile(r"\bbench\b|bench_serving|benchmark_serving|genai-perf|aiperf|guidellm")
OF_LOAD = re.compile(
    r"--(?:max-)?concurrency|--request-rate|--rate|--(?:[a-z]+-)?(?:input|output|isl|osl)(?:-len)?"
    r"|--(?:synthetic-input|output)-tokens-mean|--(?:random|sonnet)-(?:input|output)-len|--[io]sl"
)


def asides_of(read: Sequence[tuple[ScriptCommand, Sequence]]) -> tuple[str, ...]:
    """The statements that start no tool, and the tests on which those with settings hang."""
    statements = [_load_of(words) or " ".join(words) for words, readings in read if not readings]
    tests = [
        f"{IF} {words.test}"
        for words, readings in read
        if words.test and (readings or any(map(OF_SETTING.fullmatch, words)))
    ]
    loops = dict.fromkeys(
        words.loops
        for words, readings in read
        if readings and words.loops and not any(map(OF_ONE_NODE.match, words))
    )
    return tuple(text[:LONGEST_ASIDE] for text in (*statements, *dict.fromkeys(tests), *loops))


def _load_of(words: list[str]) -> str:
    """The flags of a benchmark that say what it sends to a server; empty for others."""
    if not BENCHMARK.search(" ".join(words[:FIRST_WORDS])):
        return ""
    pairs = [
        word.split("=", 1) if "=" in word else [word, after] for word, after in pairwise(words)
    ]
    flags = [f"{name} {value}" for name, value in pairs if OF_LOAD.fullmatch(name)]
    return " ".join([LOAD, *flags]) if flags else ""
