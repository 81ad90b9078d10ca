"""`python -m calc.catalogs.schemas` writes the JSON Schema of every catalog for editors."""

import json

from calc.catalogs.rooms import ROOM_OF, schema_of
from calc.catalogs.schemas.json_schema import json_schema_of


def schema_text(name: str) -> str:
    """Return the JSON Schema of a catalog as its file holds it."""
    return json.dumps(json_schema_of(name), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in ROOM_OF:
        schema_of(name).write_text(schema_text(name), "utf-8")
