"""Caches of results: per catalogs object, and the last few of a slow function."""

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from threading import RLock
from typing import Any, TypeVar, cast

Made = TypeVar("Made", bound=Callable)
MAKING = RLock()


def kept(*tables: str) -> Callable[[Made], Made]:
    """Decorator: a function of catalogs and hashable arguments runs once per catalogs object.

    `tables` names the tables that the function reads; without any, its first argument names the table. Catalogs with added
    models share the results of the tables that they share.
    """

    def keeping(function: Made) -> Made:
        @wraps(function)
        def once(catalogs: Any, *key: Any) -> Any:
            home, read = catalogs, tables or key[:1]
            while home.base is not None and all(getattr(home.base, name) is getattr(home, name) for name in read):
                home = home.base
            if (function, *key) not in home.made:
                home.made[function, *key] = function(catalogs, *key)
            return home.made[function, *key]

        return cast(Made, once)

    return keeping


def last_few(most: int, make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Cache the last results of a slow function; callers with the same key wait for one result.

    Results are computed one at a time, which takes no longer in total and needs the memory of one computation instead of one
    per session. A failure is not cached.
    """

    @lru_cache(maxsize=most)
    def cell_of(_: Hashable) -> list[Any]:
        return []

    def result(key: Hashable) -> Any:
        cell = cell_of(key)
        if not cell:
            with MAKING:
                if not cell:
                    cell.append(make(key))
        return cell[0]

    return result
