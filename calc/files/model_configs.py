"""Configs of models from files and folders, with a sentence for each unusable one."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from calc.catalogs.load import Catalogs
from calc.mappings import Json
from calc.models.foreign import model_id_of, visible
from calc.models.huggingface.config import ConfigError, read_config_text, refused_entry

INDEX = ".safetensors.index.json"
LONGEST_PATH = 4096  # characters, as Linux takes them


def added_models(paths: Sequence[str], catalogs: Catalogs) -> Iterator[tuple[str, Json]]:
    """Ids and entries of the configs; in a folder, an unreadable one refuses only its own rows.

    Raises ConfigError if two files of one call give the same id, since rows could mean either.
    """
    file_of: dict[str, Path] = {}
    for path in map(Path, paths):
        files = (
            [file for file in sorted(path.glob("*.json")) if not file.name.endswith(INDEX)]
            if path.is_dir()
            else [path]
        )
        if not files:
            raise ConfigError(
                f"{path}: there is no *.json in this folder; put config.json files there."
            )
        for file in files:
            model = model_id_of(file.stem)
            if file_of.setdefault(model, file) != file:
                raise ConfigError(
                    f"{_place(file)} and {_place(file_of[model])} both give the model '{model}'; "
                    f"rename one of them."
                )
            try:
                text = _text(file) + _index(file)
                yield model, read_config_text(text, file.stem, catalogs)
            except ConfigError as error:
                if not path.is_dir():
                    raise
                print(f"{error} Rows that name it are refused.", file=sys.stderr)
                yield model, refused_entry(file.stem, str(error))


def _place(file: Path) -> str:
    """The path of a file on one line, never cut: its end is what tells it from others."""
    return visible(str(file), most=LONGEST_PATH)


def _text(file: Path) -> str:
    """The text of a file; ConfigError where it is not UTF-8."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{file} is not UTF-8 text (byte {error.start}); give a config.json."
        ) from None


def _index(file: Path) -> str:
    """The index of the weights in the config's folder, named as on the hub or after the config."""
    index = file.with_name(("model" if file.name == "config.json" else file.stem) + INDEX)
    return "\n" + _text(index) if index.exists() else ""
