"""The wording of the Compare page: the claim, the differences, the table of figures."""

from collections.abc import Callable

from calc.charts.tables import COMPONENT_LABELS
from calc.columns import COMPONENTS
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.memory.moments import components_of
from calc.say.change import cause_in_words
from calc.say.numbers import duration, gib, is_missing, percent, signed, span, three, usd
from calc.search.compare import Difference, differences
from calc.units import GIB
from views.shared.markdown import plain
from views.shared.row_words import own_terms
from views.shared.texts import TEXTS
from views.shared.theme import COMPONENT_COLOURS


def heading(rows: list[Row]) -> str:
    """The claim: least money, fastest, smallest, among what runs and fits."""
    sound = [row for row in rows if not row["problem"] and row["fits"] != "no" and row.get("runs") != "no"]
    if len(sound) < 2:
        return "Compare what you kept"
    works = {(row["work"], bool(ends_of(row))) for row in sound}
    sentences = []
    if len(works) == 1:
        sentences.append(_least(sound, "usd", f"costs least, {{}} {_period(sound[0])}", usd))
        sentences.append(_least(sound, "hours", "is fastest, {}", span) if ends_of(sound[0]) else "")
    sentences.append(_least(sound, "memory_bytes", "takes least memory, {} per GPU", lambda value: gib(value / GIB)))
    return "; ".join(filter(None, sentences[:2] if sentences[0] else sentences)) or "Compare what you kept"


def _period(row: Row) -> str:
    """What the money is for: the run, or a month."""
    return "for the run" if ends_of(row) else "a month"


def _least(rows: list[Row], name: str, words: str, say: Callable) -> str:
    """“8-bit” costs least, $182 for the run; empty where figures are missing or alike."""
    values = [row[name] for row in rows]
    if any(is_missing(value) for value in values) or max(values) <= min(values) * 1.005:
        return ""
    best = rows[values.index(min(values))]
    return f"“{best['scenario']}” {words.format(say(best[name]))}"


def money(row: Row) -> str:
    """What it costs in all, and how long that is."""
    if is_missing(row["usd"]):
        return "No price" if row["instance"] else "No instance, so no price"
    if not ends_of(row):
        return f"{usd(row['usd'])} a month{own_terms(row)}"
    return f"{usd(row['usd'])}{own_terms(row)} in {span(row['hours'])}"


def mark(row: Row) -> str:
    """What stands beside the money of a scenario that would fail: does not fit, does not run."""
    if row.get("runs") == "no":
        return "  \n✗ does not run: the bill is of a job that would fail"
    return "  \n✗ does not fit: the bill is of a job that would fail" if row["fits"] == "no" else ""


def hourly(row: Row) -> str:
    """$27.45 an hour on demand, 1 × p4de.24xlarge in us-east-1."""
    if not row["instance"]:
        return f"{row['gpus']:.0f} × {row['gpu'] or 'GPU'}"
    place = f"{row['instances_needed']:.0f} × {row['instance']} in {row['region']}"
    return f"{place}, {usd(row['usd_per_hour'])} an hour {MARKETS[row['market']].phrase}"


def against(first: Row, other: Row) -> list[str]:
    """How a row differs from the first: memory, USD per hour, time, money, and the cause."""
    result, period = differences(first, other), f" {_period(first)}"
    writers = {  # how each is written, its unit, and what stands there where nothing differs
        "memory_bytes": (lambda value: gib(value / GIB), " per GPU", "the same memory per GPU"),
        "usd_per_hour": (usd, " an hour", "the same price per hour"),
        "hours": (span, "", "the same time"),
        "usd": (usd, period, f"the same cost{period}"),
    }
    lines = [_line(result[name], *how, first, other) for name, how in writers.items() if name in result]
    if "usd" not in result:
        lines.append("a run beside a month: what they cost in all is not compared")
    return [line.replace(" %", "\u00a0%").replace(" ×", "\u00a0×") for line in lines if line]


def _line(difference: Difference, say: Callable, unit: str, same: str, first: Row, other: Row) -> str:
    """-18 GiB per GPU, -23 %: optimizer state."""
    if is_missing(difference.change) or not difference.parts:
        return ""
    if abs(difference.ratio) < 1e-4 or not difference.cause:
        return same
    ratio = difference.ratio
    times = f"{three(1 + ratio)} × as much" if ratio >= 2 else signed(ratio, percent)
    head = f"**{signed(difference.change, say)}**{unit}, {times}: {cause(difference.cause, first, other)}"
    if not difference.against:
        return head
    more, less = (signed(difference.parts[name], say) for name in (difference.cause, difference.against))
    return f"{head} ({more}), against {cause_in_words(difference.against)} ({less})"


def cause(name: str, first: Row, other: Row) -> str:
    """What mostly makes a difference, in words."""
    if name == "instances":
        return _instances(first["instances"], other["instances"])
    if name == "price":
        return _price(first, other)
    if name == "speed":
        return f"{three(other['tokens_per_second'])} tokens per second instead of {three(first['tokens_per_second'])}"
    return cause_in_words(name)


def _instances(before: float, after: float) -> str:
    if (before, after) == (1, 2):
        return "a second instance"
    return f"{after:.0f} instance{'s' if after > 1 else ''} instead of {before:.0f}"


def _price(first: Row, other: Row) -> str:
    if first["instance"] != other["instance"]:
        return f"{other['instance']} instead of {first['instance']}"
    if first["market"] != other["market"]:
        return f"{MARKETS[other['market']].phrase} instead of {MARKETS[first['market']].phrase}"
    return f"{other['region']} instead of {first['region']}" if first["region"] != other["region"] else "another price"


def figures(rows: list[Row]) -> list[tuple[str, list]]:
    """Label and a cell per row: verdict, memory by component, cost, speed; no empty lines."""
    works = {row["work"] for row in rows}
    components = [name for name in COMPONENTS if any(name in components_of(work) for work in works)]
    table = [("Memory per GPU", [gib(row["memory_bytes"] / GIB) for row in rows])]
    for name in components:
        mark = f':color[■]{{foreground="{COMPONENT_COLOURS[name]}"}}'
        table.append((f"{mark} {COMPONENT_LABELS[name]}", [gib(row[name] / GIB) if row[name] > 0 else "–" for row in rows]))
    table += [
        ("USD per hour", [usd(row["usd_per_hour"]) for row in rows]),
        ("USD in all", [money(row) for row in rows]),
        ("Tokens per second", [_known(row["tokens_per_second"], three) for row in rows]),
        ("First token", [_serving(row, "time_to_first_token_seconds") for row in rows]),
        ("Each further token", [_serving(row, "time_per_output_token_seconds") for row in rows]),
    ]
    return [(label, [plain(cell) for cell in cells]) for label, cells in table if any(cell != "–" for cell in cells)]


def _serving(row: Row, name: str) -> str:
    return _known(row[name], duration) if row["work"] == "inference" else "–"


def _known(value: float, say: Callable) -> str:
    return "–" if is_missing(value) else say(value)


NOTHING_KEPT = TEXTS["compare"]["nothing_kept"]
HOW = TEXTS["compare"]["how"]
