"""Results that stay with the catalogs object they were made of, and go with it."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Made = TypeVar("Made", bound=Callable)


def kept(*tables: str) -> Callable[[Made], Made]:
    """Decorator for a function of catalogs (and hashable arguments): it runs once per catalogs object.

    `tables` are those that the function reads; with none, its first argument names the one. Catalogs with added models
    share what was made of the tables that they share.
    """

    def keeping(function: Made) -> Made:
        @wraps(function)
        def found(catalogs: Any, *key: Any) -> Any:
            home, read = catalogs, tables or key[:1]
            while home.base is not None and all(getattr(home.base, name) is getattr(home, name) for name in read):
                home = home.base
            if (function, *key) not in home.made:
                home.made[function, *key] = function(catalogs, *key)
            return home.made[function, *key]

        return cast(Made, found)

    return keeping
