"""The fixed texts of the pages, by page, from texts.yaml."""

from pathlib import Path

from calc.catalogs.strict_yaml import read_strictly

FILE = Path(__file__).with_name("texts.yaml")
TEXTS = read_strictly(FILE.read_text("utf-8"), FILE.name)
