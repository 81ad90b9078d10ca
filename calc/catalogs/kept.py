"""Results that stay with the catalogs object they were made of, and go with it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

Made = TypeVar("Made", bound=Callable)
MAKER = ThreadPoolExecutor(1, "maker")


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


def last_few(most: int, make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What a slow function with large arrays gave for the last so many keys; whoever asks the same meanwhile waits for it.

    One thread makes all of them, one after another: it takes as long in all, and the memory of one instead of that of every
    session that asks at the moment. What is made must not ask for another such result.
    """
    begun = lru_cache(maxsize=most)(lambda key: MAKER.submit(make, key))

    def found(key: Any) -> Any:
        try:
            return begun(key).result()
        except BaseException:  # what failed is not kept
            begun.cache_clear()
            raise

    return found
