"""Files and standard streams of the commands; a file is replaced completely or not at all."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from shutil import copymode
from typing import Any
from uuid import uuid4

from calc.evaluate import Row


def read(path: str) -> Any:
    """A file, or standard input, as bytes."""
    return nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb")


@contextmanager
def replacing_stream(path: str, binary: bool = False) -> Iterator[Any]:
    """Open a stream of text or bytes that replaces the file once it is complete."""
    mode = "b" if binary else ""
    text: Row = {} if binary else {"encoding": "utf-8", "newline": ""}
    if path == "-":
        yield sys.stdout
    elif Path(path).exists() and not Path(path).is_file():  # a device or a pipe cannot be replaced
        with Path(path).open(f"w{mode}", **text) as stream:
            yield stream
    else:
        final = Path(path).resolve()
        partial = final.with_name(f".{final.name}.{uuid4().hex}")
        try:
            with partial.open(f"x{mode}", **text) as stream:
                yield stream
            if final.exists():
                copymode(final, partial)
            partial.replace(final)
        except OSError as error:
            if error.filename == str(partial):
                error.filename = path
            raise
        finally:
            partial.unlink(missing_ok=True)


def forget_standard_output() -> None:
    """Discard pending output, which Python could not write at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
