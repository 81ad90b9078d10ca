"""Results that stay with the catalogs object they were made from, and go with it."""

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from threading import RLock
from typing import Any, TypeVar, cast

Made = TypeVar("Made", bound=Callable)
MAKING = RLock()


def kept(*tables: str) -> Callable[[Made], Made]:
    """Decorate a function of catalogs and hashable arguments: it runs once per catalogs object.

    `tables` are those that the function reads; without any, its first argument names the one. Catalogs with added models
    share what was made from the tables that they share.
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
    """Cache the last results of a slow function; callers with the same key wait for one of them.

    Results are made one after another: that takes as long in all, and the memory of one instead of that of every session
    that calls at the moment. A failure is not kept.
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
