"""Catalogs as YAML text, and their replacement on disk: all of them or none.

The same data always gives the same text, so that a diff shows only what changed.
"""

import os
import shutil
import tempfile
from pathlib import Path
from textwrap import indent

import yaml

from calc.catalogs.load import load_catalogs, read_document
from calc.catalogs.rooms import HISTORY, path_of
from refresh.history import text_of

# In the order of replacement: after each step the catalogs load.
NAMES = ("instances", "storage_and_traffic", "endpoints", "capacity", "prices")


class Row(dict):
    """A mapping that is written on one line."""


class Words(list):
    """A list that is written on one line."""


class Dumper(yaml.SafeDumper):
    """Block style except for rows; large numbers as 320.0e+9, a number in YAML 1.1 and 1.2."""

    def ignore_aliases(self, data):
        return True

    def increase_indent(self, flow=False, indentless=False):
        return super().increase_indent(flow, indentless=False)


def _number(dumper, value):
    text = ".inf" if value == float("inf") else repr(value)
    if 1e7 <= abs(value) < float("inf"):
        exponent = 12 if abs(value) >= 1e13 else 9
        text = f"{float(f'{value / 10**exponent:.12g}')!r}e+{exponent}"
    return dumper.represent_scalar("tag:yaml.org,2002:float", text)


Dumper.add_representer(
    Row, lambda dumper, row: dumper.represent_mapping("tag:yaml.org,2002:map", row, flow_style=True)
)
Dumper.add_representer(
    Words,
    lambda dumper, words: dumper.represent_sequence(
        "tag:yaml.org,2002:seq", words, flow_style=True
    ),
)
Dumper.add_representer(float, _number)


def yaml_text(name, document):
    """Return a catalog as text. Its first line names the schema for editors."""
    parts = [f"# yaml-language-server: $schema=schema/{name}.json\n"]
    for section, content in document.items():
        if isinstance(content, dict) and any(isinstance(one, dict) for one in content.values()):
            # Entry by entry: the whole tree of nodes would take thirty times the text.
            parts.append(f"{section}:\n")
            parts += [indent(_dump({key: entry}), "  ") for key, entry in content.items()]
        else:
            parts.append(_dump({section: content}))
    return "".join(parts)


def _dump(piece):
    return yaml.dump(
        in_rows(piece),
        Dumper=Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=10_000,
        default_flow_style=False,
    )


def in_rows(value, key=None):
    """The value with each price, and each list of words, on one line."""
    if isinstance(value, dict):
        one_line = not value or "as_of" in value
        return (Row if one_line else dict)(
            {name: in_rows(inner, name) for name, inner in value.items()}
        )
    if isinstance(value, list):
        return (Words if key in ("source", "unverified") else list)(
            in_rows(inner) for inner in value
        )
    return value


def read_documents(folder):
    """The catalogs that a refresh rewrites, as plain data with the keys of their sources."""
    return {name: read_document(folder, name) for name in NAMES}


def write_catalogs(folder, documents, history=(), today=""):
    """Write and load a copy of the catalogs, then replace them; on an error restore all.

    `history`: rows for the file of today, which is written first, so that a price is kept before it
    is replaced.
    """
    folder = Path(folder)
    _sweep(folder.parent)
    files = {path_of(name, Path()): yaml_text(name, documents[name]) for name in NAMES}
    if history:
        files = {Path(HISTORY, f"{today}.csv"): text_of(folder, history, today), **files}
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".catalogs-{os.getpid()}-") as name:
        trial, original = Path(name) / "catalogs", Path(name) / "original"
        shutil.copytree(folder, trial)
        shutil.copytree(folder, original)
        for file, text in files.items():
            _write(trial / file, text)
        load_catalogs(trial)
        (folder / HISTORY).mkdir(exist_ok=True)
        try:
            for file in files:
                os.replace(trial / file, folder / file)
        except BaseException:
            for file in files:
                if (original / file).exists():
                    os.replace(original / file, folder / file)
                else:
                    (folder / file).unlink(missing_ok=True)
            raise


def _write(path, text):
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sweep(parent):
    """Remove the folders of killed refreshes, by the process number in their names."""
    for folder in parent.glob(".catalogs-*"):
        number = folder.name.split("-")[1]
        if not (number.isdecimal() and _runs(int(number))):
            shutil.rmtree(folder, ignore_errors=True)


def _runs(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it belongs to someone else
        pass
    return True
