"""Catalog documents, read and checked once for the same bytes, then cached as JSON.

The name of a cached document contains a hash of the file and of the checking code, which includes
the classes of all catalogs. Without a usable cache the file is checked again.
"""

import hashlib
import json
import os
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

from calc.catalogs.schema_check import check_schema
from calc.catalogs.strict_yaml import read_bytes_strictly
from calc.mappings import Json

KEPT_IN_MEMORY, KEPT_ON_DISK = 64, 4  # documents in all; documents per catalog
CHECKS = ("strict_yaml.py", "schema_check.py", "faults.py", "schemas/*.py")


def document_of(content: bytes, name: str, file: str) -> Json:
    """A new copy of a catalog's document in these bytes. Raises CatalogError if it is faulty."""
    return json.loads(document_text(content, name, file))


@lru_cache(maxsize=KEPT_IN_MEMORY)
def document_text(content: bytes, name: str, file: str) -> str:
    """Return the document of the catalog `name` in these bytes as JSON. Raises CatalogError."""
    digest = hashlib.sha256(b"\0".join((_checks(), name.encode(), content))).hexdigest()[:32]
    path = _folder() / f"{Path(file).stem}-{digest}.json"
    with suppress(OSError, ValueError):
        text = path.read_text("utf-8")
        json.loads(text)
        return text
    document = read_bytes_strictly(content, file)
    check_schema(document, name, file)
    text = json.dumps(document)
    with suppress(OSError):
        _keep(text, path)
    return text


@cache
def _checks() -> bytes:
    """The code that checks documents, as bytes."""
    folder = Path(__file__).parent
    return b"".join(path.read_bytes() for name in CHECKS for path in sorted(folder.glob(name)))


def _folder() -> Path:
    """Return the folder of the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headroom"


def _keep(text: str, path: Path) -> None:
    """Write a document completely or not at all, and keep the last few of a catalog."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_text(text, "utf-8")
    partial.replace(path)
    stem = path.stem.rpartition("-")[0]
    for old in sorted(path.parent.glob(f"{stem}-*.json"), key=lambda file: file.stat().st_mtime)[
        :-KEPT_ON_DISK
    ]:
        old.unlink(missing_ok=True)
