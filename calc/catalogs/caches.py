"""Caches of results: per catalogs object, and the last few of a slow function."""

from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache, wraps
from threading import Lock, RLock
from typing import Any, TypeVar, cast

Made = TypeVar("Made", bound=Callable)
TURN, PATIENCE_SECONDS = RLock(), 0.05  # of one slow result at a time, and of whoever waits for it


def cached_per_catalogs(*tables: str) -> Callable[[Made], Made]:
    """Decorator: a function of catalogs and hashable arguments runs once per catalogs object.

    `tables` names the tables that the function reads; without any, its first argument names the
    table. Catalogs with added models share the results of the tables that they share.
    """

    def with_cache(function: Made) -> Made:
        @wraps(function)
        def cached(catalogs: Any, *arguments: Any) -> Any:
            results = _oldest_with_same_tables(catalogs, tables or arguments[:1]).made
            call = (function, *arguments)
            if call not in results:
                results[call] = function(catalogs, *arguments)
            return results[call]

        return cast(Made, cached)

    return with_cache


def _oldest_with_same_tables(catalogs: Any, tables: Iterable[str]) -> Any:
    """The catalogs furthest down the chain of `base` that have the very same tables."""
    while catalogs.base is not None:
        if any(getattr(catalogs.base, name) is not getattr(catalogs, name) for name in tables):
            break
        catalogs = catalogs.base
    return catalogs


def last_few(most: int, make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Cache the last results of a slow function; callers with the same key wait for one result.

    Results are computed one after another. That takes no longer in total, and needs the memory of
    one computation instead of one per session. While a long one runs, the others start after a
    moment. A failure is not cached.
    """

    @lru_cache(maxsize=most)
    def cell_of(_: Hashable) -> tuple[list[Any], Lock]:
        return [], Lock()

    def result(key: Hashable) -> Any:
        cell, making = cell_of(key)
        with making:
            if not cell:
                is_in_turn = TURN.acquire(timeout=PATIENCE_SECONDS)
                try:
                    cell.append(make(key))
                finally:
                    if is_in_turn:
                        TURN.release()
        return cell[0]

    return result
