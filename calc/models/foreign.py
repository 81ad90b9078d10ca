"""Models that do not come from the catalog: what a link, a file or a folder may say of them.

A foreign entry may set the sizes that formulas read, words of the catalogs, and a few texts. All
else is left out. Its id and repository match one pattern, and its name carries a mark, so that it
cannot be taken for a model of the catalog.
"""

import math
import re
import unicodedata
from collections.abc import Container
from typing import Any

from calc.mappings import Json
from calc.models.architecture import ABSENT, NEEDED, TEXTS

MARK = " · own"
OWN_SUFFIX = "-own"
MODEL_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}(/[A-Za-z0-9_.-]{1,100})?")
WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,149}")
UNSAFE = re.compile(r"[^\w .,()+/&'\\-]")  # what Markdown reads and no model's name needs
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
SIMULATED_BLOCK = "simulated-"  # how the id of a block begins that was read off on this machine
LARGEST_SIZE = 1e15
LONGEST_TEXT, LONGEST_NAME = 600, 80  # characters
# Letters of these scripts look like Latin ones.
ALIKE_SCRIPTS = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "FULLWIDTH", "MATHEMATICAL")
HIDDEN = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")  # Unicode categories without a glyph

TEXT_FIELDS = {"source", "notes", "remark", "left_out", "extended_by", "refused"}
WORD_FIELDS = {
    "family",
    "model_type",
    "kind",
    "stored_precision",
    "published_precision",
    "block",
    "moe_block",
    "linear_block",
    "linear_moe_block",
    "encoder_block",
    "tower_block",
    "stem_block",
    "activation",
}
SIZE_FIELDS = {
    *ABSENT.keys() - WORD_FIELDS - TEXT_FIELDS - {*TEXTS, "layer_kinds", "encoder_sizes"},
    "layers",
    "total_parameters",
    "further_parameters",
    "left_out_parameters",
    "encoder_heads",
    "encoder_ffn",
    "sized",
    "simulated_here",
    "tied",
    "headless",
    "attention_dropout",
    "hidden_dropout",
    "softcap",
    "mixer_norm",
}
LAYER_KIND_FIELDS = {
    "layers",
    "head_dim",
    "kv_heads",
    "ffn",
    "block_norms",
    "keys_are_values",
}


def visible(text: str, most: int = LONGEST_NAME) -> str:
    """Return a text on one line, with hidden and look-alike letters written as escapes."""
    letters = "".join(map(_visible_letter, unicodedata.normalize("NFC", text)))
    return " ".join(letters.split())[:most]


def _visible_letter(letter: str) -> str:
    """A letter that shows what it is; one that hides or imitates another becomes its code."""
    if letter.isascii() and letter.isprintable():
        return letter
    if letter in "\t\n\r":
        return " "
    is_hidden = unicodedata.category(letter) in HIDDEN
    is_alike = unicodedata.name(letter, "").startswith(ALIKE_SCRIPTS)
    return f"\\u{ord(letter):04x}" if is_hidden or is_alike else letter


def model_id_of(text: str) -> str:
    """Return an id that matches the pattern of ids: the text with other characters as dashes."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-._")[:100]
    return plain or "my-model"


def free_id(text: str, ids: Container[str]) -> str:
    """Return the id of a foreign model, with a suffix if the catalog has that id."""
    plain = model_id_of(text)
    return f"{plain}{OWN_SUFFIX}" if plain in ids else plain


def foreign_entry(model_id: str, entry: Json) -> Json:
    """Return what an entry may say of a foreign model; fields that it may not set are left out."""
    valid_values = {name: _valid_value(name, value) for name, value in entry.items()}
    fields = {name: value for name, value in valid_values.items() if value is not None}
    if not any(str(value).startswith(SIMULATED_BLOCK) for value in fields.values()):
        fields.pop("simulated_here", None)  # its figures rest on no simulation of this machine
    name = UNSAFE.sub("", visible(str(entry.get("name") or model_id).removesuffix(MARK)))
    return {**fields, "name": f"{name}{MARK}"}


def left_out_fields(entry: Json) -> list[str]:
    """Return the fields of an entry that a foreign model may not set, or not to that value."""
    return [
        name
        for name, value in entry.items()
        if name != "name" and value not in ("", None) and _valid_value(name, value) is None
    ]


def _valid_value(name: str, value: Any) -> Any:
    """The value of a field as it may be, or None."""
    if name in SIZE_FIELDS:
        return value if _is_size(name, value) else None
    if name == "layer_kinds":
        return _layer_kinds(value)
    if name == "encoder_sizes":
        return value if isinstance(value, dict) and _are_sizes(value) else None
    if not isinstance(value, str):
        return None
    if name in TEXT_FIELDS:
        return visible(value, LONGEST_TEXT)
    if name == "kind":
        return value if value in NEEDED else None
    if name in WORD_FIELDS:
        if WORD.fullmatch(value):
            return value
        if value == "":
            return ""
        return None
    if name == "hf_repo":
        return value if REPOSITORY.fullmatch(value) and ".." not in value else None
    return value if name == "checked_on" and DAY.fullmatch(value) else None


def _is_size(name: str, value: Any) -> bool:
    """Return whether a value is a flag, or a finite number that can be a size."""
    if isinstance(value, bool):
        return True
    if not isinstance(value, int | float) or not math.isfinite(value):
        return False
    least = -LARGEST_SIZE if name == "further_parameters" else 0
    return least <= value <= LARGEST_SIZE


def _are_sizes(values: Json) -> bool:
    """Return whether each value is a size that a part of the model may have."""
    return all(
        name in SIZE_FIELDS | LAYER_KIND_FIELDS and _is_size(name, value)
        for name, value in values.items()
    )


def _layer_kinds(value: Any) -> list[Json] | None:
    """The kinds of layers of an entry, or None if one of them is no such kind."""
    if not isinstance(value, list) or not all(isinstance(kind, dict) for kind in value):
        return None
    for kind in value:
        word = kind.get("kind")
        sizes = {key: kind[key] for key in kind if key != "kind"}
        if not isinstance(word, str) or not WORD.fullmatch(word) or not _are_sizes(sizes):
            return None
    return value
