"""The fixed texts of the pages: texts.yaml here, and one in the folder of a page."""

from pathlib import Path
from typing import Any

from calc.catalogs.strict_yaml import read_strictly


def texts_beside(module: str) -> dict[str, Any]:
    """The texts in the folder of a module, which names its file."""
    file = Path(module).with_name("texts.yaml")
    texts: dict[str, Any] = read_strictly(file.read_text("utf-8"), file.name)
    return texts


TEXTS = texts_beside(__file__)
