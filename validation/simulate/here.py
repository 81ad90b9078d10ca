"""The program that `python -m calc simulate` runs in .venv-simulate.

It reads a request as JSON from standard input and writes the answer as JSON to standard output.

A request holds a `config`; `rows`, scenarios whose steps are run whole; and `blocks`, the number
formats in which blocks are read off; `progress`, a file for the share of them that is done.
"""

import json
import os
import sys
import time
from pathlib import Path

from validation.simulate.read_model import blocks_of
from validation.simulate.whole import Refused, step, torch, transformers


def call_and_time(make, *arguments):
    """Return what a function makes, or the reason for its refusal, with the seconds it took."""
    begun = time.monotonic()
    try:
        made = make(*arguments)
    except Refused as error:
        made = {"problem": str(error)}
    except Exception as error:
        why = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        made = {"problem": f"Its class does not run on fake tensors ({why})."}
    return made | {"seconds": round(time.monotonic() - begun, 1)}


def answer(request):
    """The versions, the peak of each row, and the blocks where they are asked for."""
    config = request["config"]
    formats = request.get("blocks")
    progress = request.get("progress")
    tell = (
        (lambda share: Path(progress).write_text(str(share), encoding="utf-8"))
        if progress
        else (lambda share: None)
    )
    made = {"transformers": transformers.__version__, "torch": torch.__version__.partition("+")[0]}
    made["rows"] = [call_and_time(step, config, row) for row in request.get("rows", ())]
    return made | ({"blocks": call_and_time(blocks_of, config, formats, tell)} if formats else {})


if __name__ == "__main__":
    result, sys.stdout = sys.stdout, sys.stderr  # what a class prints is no part of the answer
    os.nice(10)  # a page on this machine comes first
    json.dump(answer(json.load(sys.stdin)), result)
