"""A model config of Triton in the text form of Protocol Buffers, config.pbtxt, as a mapping."""

import re
from pathlib import PurePath

from calc.mappings import Json

SUFFIX = ".pbtxt"
FIELD = re.compile(r"^(\w{1,60})[ \t]*:[ \t]*\"?([^\"\s{\[]{1,200})\"?[ \t]*$", re.M)
PARAMETER = re.compile(
    r"key\s{0,20}:\s{0,20}\"(\w{1,100})\"\s{0,20},?\s{0,20}value\s{0,20}:?\s{0,20}\{\s{0,20}"
    r"string_value\s{0,20}:\s{0,20}\"([^\"]{1,300})\""
)


def is_pbtxt(file: str) -> bool:
    """Return whether a file is in the text form of Protocol Buffers, by its name."""
    return PurePath(file.lower()).suffix == SUFFIX


def pbtxt_tree(text: str) -> Json:
    """The fields of a config: its own, and those of its parameters, empty ones left out."""
    fields = {**dict(FIELD.findall(text)), **dict(PARAMETER.findall(text))}
    fields.pop("name", None)  # of the config
    return {"triton": {name: value for name, value in fields.items() if "${" not in value}}
