"""The sentences of the Plan page, from calc's numbers: heading, metrics, alternative texts, the caption."""

from urllib.parse import urlencode, urlsplit

from calc.charts.tables import COMPONENT_LABELS
from calc.cost import offers
from calc.cost.markets import MARKETS, PLAN_MARKETS
from calc.plan.ranking import HOLDS
from calc.words import card_name, name_of
from views.theme import FITS, word
from views.wording.numbers import gib, is_missing, percent, three, usd

VERBS = {"training": "trains", "inference": "runs"}


def where(row, catalogs):
    """2 × p5.48xlarge, or 8 × H100 SXM5 80GB for a card that is not rented by the instance."""
    if row["instance"]:
        idle = "" if row["gpus"] == row["gpus_paid"] else f" ({row['gpus']:.0f} of {row['gpus_paid']:.0f} GPUs used)"
        return f"{row['instances_needed']:.0f} × {row['instance']}{idle}"
    return (
        f"{row['gpus']:.0f} × {card_name(row['gpu'], catalogs)}" if row["gpu"] else f"{row['gpus']:.0f} GPU{'s' if row['gpus'] > 1 else ''}"
    )


def heading(answer, catalogs, market, period):
    """The answer in one sentence."""
    row = answer["row"]
    model = name_of("model", row["model"], catalogs)
    verb = "fine-tunes with LoRA" if row["tuning"] == "lora" and row["work"] == "training" else VERBS[row["work"]]
    if answer["state"] == "cheapest":
        tight = ", tightly," if row["fits"] == "tight" else ""
        return f"{model} {verb}{tight} on {where(row, catalogs)} for {usd(row['usd'])} per {period} {MARKETS[market].phrase}"
    if answer["state"] == "unpriced":
        return f"{model} {verb} on {where(row, catalogs)}; no price {MARKETS[market].phrase} in {row['region']} is known"
    if answer["state"] == "refused":
        return f"{model} does not run on {where(row, catalogs)} as it is set"
    if answer["state"] == "over":
        gap = (
            f"is {gib(answer['over_gib'])} over per GPU"
            if answer["over_gib"] > 0
            else f"leaves {gib(-answer['over_gib'])} per GPU, too little for the allocator"
        )
        return f"Nothing chosen fits {model}: the closest, {where(row, catalogs)}, {gap}"
    if answer["state"] == "no card":
        return (
            f"{model} needs {gib(answer['memory_gib'])} on each of {row['gpus']:.0f} GPUs"
            if row["gpus"] > 1
            else f"{model} needs {gib(answer['memory_gib'])} of GPU memory"
        )
    return f"{model} cannot be estimated this way"


def setting(row, catalogs):
    """How the named row is set up, in one line."""
    parts = [name_of("precision", row["precision"], catalogs)]
    if row["work"] == "training":
        parts += [name_of("optimizer", row["optimizer"], catalogs), f"recompute {row['recompute']}"]
        parts += [name_of("sharding", row["sharding"], catalogs)] if row["gpus"] > 1 else []
        parts.append(f"micro-batch {row['batch']:,.0f} × {row['sequence_tokens']:,.0f} tokens")
    else:
        parts += [f"tensor parallel {row['tensor_parallel']:.0f}"] if row["tensor_parallel"] > 1 else []
        parts.append(f"{row['batch']:,.0f} concurrent sequence{'s' if row['batch'] > 1 else ''} of {row['sequence_tokens']:,.0f} tokens")
    return " · ".join(parts)


def sentence(answer, catalogs):
    """The line under the heading: the setting and the range of the estimate, and what is to be known of how it runs."""
    said = f"{setting(answer['row'], catalogs)} · expect {range_text(answer['low_gib'], answer['high_gib'])} per GPU"
    return f"{said}. {answer['row']['note']}" if answer["row"]["note"] else said


def verdict_text(total_gib, fits):
    """What stands at the end of a bar: 61.2 GiB ✓."""
    return f"{gib(total_gib)} {FITS[fits][1]}" if fits else gib(total_gib)


def marks():
    """What the marks at the end of a bar mean."""
    return ", ".join(f"{FITS[fits][1]} {word(fits)}" for fits in ("yes", "tight", "no"))


def metrics(answer, catalogs, market, period):
    """Label, value and note of the four numbers above the fold."""
    row, state = answer["row"], answer["state"]
    cost = {
        "cheapest": (usd(row["usd"]), where(row, catalogs)),
        "unpriced": ("no price", f"{MARKETS[market].phrase} in {row['region']}"),
        "refused": ("none", "what fits does not run"),
        "over": ("none", "nothing chosen fits"),
        "no card": ("open", "choose an instance or a card"),
    }[state]
    return (
        (f"Cheapest that fits, per {period}", *cost),
        ("Memory per GPU", gib(answer["memory_gib"]), of_card(answer)),
        ("Largest component", largest(answer), f"{gib(answer['largest_gib'])}, {percent(answer['largest_ratio'])}"),
        ("Scenarios that fit", f"{answer['fit']} of {answer['rows']}", counts(answer)),
    )


def counts(answer):
    """How many of the scenarios are tight, do not fit, do not run, name no card, cannot be estimated."""
    open_ones = answer["rows"] - sum(answer[name] for name in ("fit", "tight", "do_not_fit", "refused", "problems"))
    parts = [
        (answer["tight"], "tight"),
        (answer["do_not_fit"], "do not fit"),
        (answer["refused"], "do not run"),
        (open_ones, "without a card"),
        (answer["problems"], "cannot be estimated"),
    ]
    return ", ".join(f"{number} {words}" for number, words in parts if number) or "all of them"


def memory_alt(answer):
    """The takeaway of the memory chart in under 120 characters."""
    share = f"{largest(answer).lower()}, {percent(answer['largest_ratio'])}"
    return f"{answer['fit'] + answer['tight']} of {answer['rows']} scenarios fit; largest component {share}"


def largest(answer):
    return COMPONENT_LABELS.get(answer["largest"], "none")


def cost_alt(answer, period):
    """The takeaway of the cost chart."""
    row = answer["row"]
    return (
        f"Cheapest that fits: {usd(row['usd'])} per {period}, {gib(answer['memory_gib'])} per GPU"
        if answer["state"] == "cheapest"
        else "No scenario fits and has a price"
    )


def price_caption(row, catalogs, market, today):
    """Which prices these are, and of when; a warning where they are old."""
    as_of = row["prices_as_of"] or catalogs.prices_as_of
    days = offers.days_since(as_of, today)
    age = f" :material/warning: {days} days old: check them before renting." if days > offers.OLD_DAYS else ""
    said = f"Prices: {row['region']}, {MARKETS[market].phrase}, the oldest used of {as_of}.{age}"
    return f"{said} Catalog {catalogs.version}. Memory is an estimate with its range; see Accuracy."


def older_prices(made, catalogs, row):
    """What to say of a plan that was made with other prices than today's, and how its instance's has moved; empty otherwise."""
    if not made or made == catalogs.prices_as_of:
        return ""
    said = f"This plan was made with prices of {made}; those shown are of {catalogs.prices_as_of}."
    change = offers.price_change(catalogs, row["instance"], row["region"], made)
    if not change["then_usd"] > 0 or not change["now_usd"] > 0:
        return f"{said} The history holds no price of that day for {row['instance']}." if row["instance"] else said
    way = "more" if change["ratio"] > 0 else "less"
    moved = f"{percent(abs(change['ratio']))} {way}" if change["ratio"] else "the same"
    hourly = f"{usd(change['then_usd'])} per hour then and {usd(change['now_usd'])} now"
    return f"{said} On demand, one {row['instance']} cost {hourly}: {moved}."


def range_text(low_gib, high_gib):
    """The stated range around an estimate."""
    return f"{three(low_gib)} to {gib(high_gib)}"


def of_card(answer):
    """77 % of 79.6 GiB."""
    return (
        range_text(answer["low_gib"], answer["high_gib"])
        if is_missing(answer["card_gib"])
        else f"{percent(answer['used_ratio'])} of {gib(answer['card_gib'])}"
    )


def ways_out(changes, market):
    """The first two changes that make it fit, with what it then costs."""
    if not len(changes):
        return "No change or pair of changes that was tried makes it fit: take a smaller model or more GPUs."
    first = changes.head(2).to_dict("records")
    return "It would fit with " + ", or with ".join(_priced(change, market) for change in first) + "."


def _priced(change, market):
    """A change in words and what an hour then costs: recompute full ($12.40 per hour on spot)."""
    hourly = change["usd_per_hour"]
    return change["change"] + ("" if is_missing(hourly) else f" ({usd(hourly)} per hour {MARKETS[market].phrase})")


def usd_title(market, period):
    """The axis of money."""
    return f"USD per {period}, {MARKETS[market].phrase}"


def file_name(row):
    """headroom-llama-3.1-8b-training-2026-11-20.csv: the plan and the date of its prices."""
    return f"headroom-{row['model']}-{row['work']}-{row['prices_as_of'] or 'no-prices'}.csv"


def link(url, query):
    """The full address of the plan."""
    parts = urlsplit(url or "http://localhost:8501/")
    return f"{parts.scheme}://{parts.netloc}{parts.path}?{urlencode(query, doseq=True)}"


def instances(holding, rows, scenario):
    """The cheapest instance on demand and on spot, in a sentence."""
    if not len(holding):
        return f"None of {len(rows)} instance types holds it, even with many of them."
    said = [f"{len(holding)} of {len(rows)} instance types hold it in {scenario['region']}"]
    for market in (MARKETS[name] for name in PLAN_MARKETS):
        column = f"usd_per_hour_{market.key}"
        if holding[column].notna().any():
            row = holding.loc[holding[column].idxmin(), ["instances_needed", "instance", column]]
            price = usd(row[column])
            said.append(f"cheapest {market.phrase}: {row['instances_needed']:.0f} × {row['instance']} for {price} per hour")
    return "; ".join(said) + f". {spread(scenario)}"


def spread(scenario):
    """How further GPUs are used in tables over GPU counts."""
    if scenario["work"] == "inference":
        return "Further GPUs divide each layer (tensor parallel, up to 8), then the layers."
    return "Further GPUs divide the state (ZeRO 3)." if scenario["sharding"] == "none" else "Further GPUs share by the chosen sharding."


def fits_on(held, rows, scenario):
    """How many cards of the catalog hold it, alone and at all."""
    alone = int((held["gpus_needed"] == 1).sum())
    return f"{len(held)} of {len(rows)} cards of the catalog can hold it, {alone} of them alone. {spread(scenario)}"


def needed(row):
    """8 × 61.2 of 79.6 GiB."""
    return f"{row['gpus_needed']:.0f} × {gib(row['memory_gib'])} of {gib(row['card_gib'])}"


def first_fit(table):
    """From how many GPUs it holds."""
    held = table[table["fits"].isin(HOLDS)]
    return f"Fits from {held['gpus'].min():.0f} GPUs" if len(held) else "Fits at no GPU count shown"
