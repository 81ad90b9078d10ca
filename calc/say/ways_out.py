"""Ways out of a job without an answer, in words, each with its cost."""

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.say.limits import STEPPED, bits_words, region_words, short
from calc.say.numbers import about, count
from calc.say.paid import month_words
from calc.say.place import place
from calc.scenarios.published_weights import bits_of
from calc.studies.ways_out import WayOut

MOST = 4  # named in a sentence
METHODS = {"lora": "LoRA", "qlora": "QLoRA"}
OFFLOADED = {"optimizer": "the optimizer", "activations": "activations"}


def out_words(outs: tuple[WayOut, ...], catalogs: Catalogs) -> str:
    """Instead: QLoRA for $21, LoRA for $30 or Spot for $38.

    The problem itself says that the budget may rise to the cost of the nearest answer.
    """
    others = [way for way in outs if way.kind != "limits" or set(way.value) != {"usd_most"}]
    if not others:
        return ""
    options = [f"{_way_words(way, catalogs)} for {_usd(way)}" for way in others[:MOST]]
    options_text = " or ".join(filter(None, (", ".join(options[:-1]), options[-1])))
    return f" Instead: {options_text}."


def ways_out_text(outs: tuple[WayOut, ...], catalogs: Catalogs) -> str:
    """Return the ways out with their costs: QLoRA $21 · LoRA $30 · a budget of $40."""
    return " · ".join(
        f"a budget of {_usd(way)}"
        if way.kind == "limits" and set(way.value) == {"usd_most"}
        else f"{_way_words(way, catalogs)} {_usd(way)}"
        for way in outs
    )


def _usd(way: WayOut) -> str:
    return about(way.row["usd"]) + month_words(way.row)


NOUNS = {
    "layout": "the layout of the answer",
    "loss": "a fused loss",
    "optimizer": "an 8-bit optimizer",
}
COUNTS = {
    "sequence_tokens": "a context of {} tokens",
    "prompt_tokens": "a prompt of {} tokens",
    "users": "{} requests in flight",
}


def _way_words(way: WayOut, catalogs: Catalogs) -> str:
    """The change of a way out, as a noun."""
    if way.kind == "limits":
        return " and ".join(
            STEPPED[name].format(short(name)(has)) for name, has in way.value.items()
        )
    if way.kind == "regions":
        return region_words(way.row["region"], catalogs)
    if way.kind == "places":
        return place(way.row)
    if way.kind == "fewest_bits":
        return _formats(way, catalogs)
    if way.kind == "markets":
        return MARKETS[way.value].label
    if way.kind == "method":
        return METHODS[way.value]
    if way.kind == "offload":
        return f"{OFFLOADED.get(way.value, way.value)} in CPU memory"
    if way.kind == "step_tokens":
        return STEPPED[way.kind].format(short(way.kind)(way.value))
    if way.kind in COUNTS:
        return COUNTS[way.kind].format(count(way.value))
    return NOUNS[way.kind]


def _formats(way: WayOut, catalogs: Catalogs) -> str:
    """The weights of a narrower answer, and its cache if that is narrower too."""
    cache = way.row["kv_precision"]
    weights_bits = bits_of(catalogs, way.row["precision"])
    if not cache or bits_of(catalogs, cache) == 16:
        return bits_words("precision", weights_bits, 16)
    return bits_words("", weights_bits, bits_of(catalogs, cache))
