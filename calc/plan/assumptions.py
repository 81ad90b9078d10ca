"""The assumptions of time and cost that a row reads."""

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.evaluate import Row

SPOT = "spot"  # of markets that take instances back


def assumptions_of(row: Row, catalogs: Catalogs) -> list[str]:
    """Return the names of the assumptions that a row of this work on this market reads."""
    interrupted = row.get("market") and MARKETS[row["market"]].interrupted
    readers = {"", row["work"], *([SPOT] if interrupted else [])}
    only = catalogs.assumptions["only"]
    return [name for name in only.index if only[name] in readers]
