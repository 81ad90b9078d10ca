"""The classes of config_defaults.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Any

from msgspec import Meta

from calc.catalogs.schemas.kinds import CatalogFile, FilledMap, hint


class File(CatalogFile, kw_only=True):
    """Config defaults: what the config classes of transformers fill in."""

    config_defaults: Annotated[
        FilledMap[
            Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9._-]*$")],
            FilledMap[
                str,
                Annotated[
                    float | bool | str | list[Any],
                    hint("the default of the class, for example 4096"),
                ],
            ],
        ],
        hint("model_type -> field -> default, sorted"),
    ]
