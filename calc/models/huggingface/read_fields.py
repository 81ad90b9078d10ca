"""Records which fields of a config are read, so that a remark can name the others."""

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from typing import Any

from calc.mappings import Json
from calc.models.huggingface.values import short_value
from calc.remarks import Remark, remark

MOST_NAMED = 6


class ReadFields(dict):
    """A config that records in `read` which of its fields are looked up.

    Copying it or iterating over it records nothing.
    """

    def __init__(self, fields: Json, read: set[str] | None = None):
        super().__init__(fields)
        self.read: set[str] = set() if read is None else read

    def over(self, defaults: Json) -> "ReadFields":
        """Return the config with defaults for missing fields; both share one record."""
        return ReadFields({**defaults, **self}, self.read)

    def __getitem__(self, field: str) -> Any:
        self.read.add(field)
        return super().__getitem__(field)

    def __contains__(self, field: object) -> bool:
        self.read.add(str(field))
        return super().__contains__(field)

    def get(self, field: str, default: Any = None) -> Any:
        self.read.add(field)
        return super().get(field, default)


def unread_fields(
    configs: Sequence[ReadFields], defaults: Json, harmless: Collection[str]
) -> list[str]:
    """Fields that a config sets differently from its class and that were never looked up.

    `harmless` holds names or patterns of fields that change nothing.
    """
    fields_read: set[str] = set().union(*(config.read for config in configs))
    unread = set()
    for config in configs:
        for name, value in config.items():
            if value and value != defaults.get(name) and name not in fields_read:
                unread.add(name)
    return sorted(
        name for name in unread if not any(fnmatchcase(name, pattern) for pattern in harmless)
    )


def unread_remark(names: Sequence[str]) -> Remark | None:
    """Return a remark that names the fields which are not read; None without any."""
    if not names:
        return None
    fields = tuple(map(short_value, names[:MOST_NAMED]))
    return remark("fields-not-read", fields=fields, further=len(names) - len(fields))
