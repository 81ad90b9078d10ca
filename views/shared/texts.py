"""The fixed texts of the pages: texts.yaml here, and one in the folder of a page."""

from pathlib import Path

from calc.catalogs.strict_yaml import read_strictly
from calc.mappings import Json


def texts_beside(module: str) -> Json:
    """The texts in the folder of a module, which names its file."""
    file = Path(module).with_name("texts.yaml")
    texts: Json = read_strictly(file.read_text("utf-8"), file.name)
    return texts


TEXTS = texts_beside(__file__)
