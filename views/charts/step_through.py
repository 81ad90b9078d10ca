"""The picture of a step that is walked in the browser: figures, moments, slope."""

import json
from typing import Any, NamedTuple

import altair as alt

from calc.charts.result_tables import COMPONENT_LABELS
from calc.say.numbers import SMALL_GIB
from views.charts.base import (
    DIGITS,
    ROWS,
    SIZE,
    Spec,
    legend_of,
    once,
    quantity_axis,
    without_table_name,
)
from views.shared.theme import BLUE, COMPONENT_COLORS, ORANGE, RED, Ink

# The selection of the sliders' positions, and its box: ticked, it hands them to the server.
TAKE, USE = "take", "use"
MOMENTS_HEIGHT, LINE_HEIGHT = 190, 170
# The name of a moment, below its first two words where six names have no room side by side.
TWO_LINES = (
    "width < 640 && length(split(datum.label, ' ')) > 2 ? "
    "[join(slice(split(datum.label, ' '), 0, 2), ' '), "
    "join(slice(split(datum.label, ' '), 2), ' ')] : datum.label"
)
LABEL = 50  # pixels of an axis label inside the picture, through which no line of a card goes
LENGTH = (
    "(datum.page_tokens > 0 ? ceil(take_tokens / datum.page_tokens) * datum.page_tokens : "
    "take_tokens) / 1024"
)
FIXED = "datum.c + datum.c_tokens * datum.length + datum.c_tokens2 * datum.length * datum.length"
EACH = (
    "datum.c_batch + datum.c_batch_tokens * datum.length + datum.c_batch_tokens2 * datum.length "
    "* datum.length"
)
EACH_SIZE = (
    f"(datum.each < {SMALL_GIB} ? format(1024 * datum.each, '{DIGITS}') + ' MiB' : "
    f"format(datum.each, '{DIGITS}') + ' GiB')"
)
# Sequences on the axis: those of now, and the cliff.
REACH = (
    "pow(2, ceil(log(max(8, 1.25 * take_batch, datum.most < 1e9 ? 1.1 * (datum.most + 1) : 0)) / "
    "LN2))"
)
MOST_BUTTONS = 8  # of a dial, which is a list beyond
BAND = 0.25  # opacity of the range


class Slider(NamedTuple):
    """A number that is set under the picture; fixed if it has no range."""

    label: str
    value: float
    least: float
    most: float
    step: float


class Choice(NamedTuple):
    """A dial under the picture: the words for its values, of which number `value` is set."""

    label: str
    names: tuple[str, ...]
    value: int


class Words(NamedTuple):
    """The words of the picture."""

    step: str  # of the first dial
    models: tuple[str, ...]
    unit: str  # sequence, request
    card: str  # H100
    room: str  # An H100 has room for
    stops: tuple[str, ...]
    slope_title: str
    axis: str
    use: str


@once
def step_through(
    ink: Ink,
    words: Words,
    batch: Slider,
    tokens: Slider,
    dials: tuple[Choice, ...],
    components: tuple[str, ...],
    is_narrow: bool = False,
) -> Spec:
    """A vconcat of figures, moments and slope; a box under its sliders hands their places on.

    Reads calc.charts.walk.walk_table.
    """
    rows = ROWS.transform_filter(
        " && ".join(f"datum.dial_{place} == take_dial_{place}" for place in range(len(dials)))
    )
    stop = Choice(words.step, words.stops, len(words.stops))
    numbers: dict[str, Slider | Choice] = {"stop": stop, "batch": batch, "tokens": tokens}
    numbers |= {f"dial_{place}": dial for place, dial in enumerate(dials)}
    binds: Any = {name: bind for name, number in numbers.items() if (bind := _bind(number))}
    binds |= {USE: alt.binding_checkbox(name=words.use)}
    start = {name: numbers[name].value if name in numbers else None for name in binds}
    fields = [*binds][::-1]  # Vega draws them from the last to the first
    take = alt.selection_point(name=TAKE, fields=fields, bind=binds, value=[start])
    still = [
        alt.param(name=f"{TAKE}_{name}", value=number.value)
        for name, number in numbers.items()
        if name not in binds
    ]
    chart = alt.vconcat(
        _figures(ink, words, rows).add_params(take),
        _moments(ink, words, rows, components, is_narrow),
        _slope(ink, words, rows),
        spacing=14,
    )
    return without_table_name(
        chart.add_params(*still).configure_view(stroke=None).to_dict(validate=False)
    )


def _bind(number: Slider | Choice) -> Any:
    """The slider of a number, or a button or entry for each value; none if it is fixed."""
    if isinstance(number, Slider):
        least, most, step = number.least, number.most, number.step
        if least >= most:
            return None
        return alt.binding_range(min=least, max=most, step=step, name=number.label)
    numbers, names = list(range(1, len(number.names) + 1)), list(number.names)
    if len(numbers) == 1:
        return None
    bind = alt.binding_radio if len(numbers) <= MOST_BUTTONS else alt.binding_select
    return bind(options=numbers, labels=names, name=number.label)


def _part_rows(rows: alt.Chart) -> alt.Chart:
    """The components of all moments at the length and batch that the sliders set, in GiB.

    A component is fixed + each · batch, with the coefficients of the piece of lengths in which the
    slider stands.
    """
    at_this_length = (
        "datum.kind == 'part' && datum.over_tokens < take_tokens && take_tokens <= datum.to_tokens"
    )
    return (
        rows.transform_filter(at_this_length)
        .transform_calculate(length=LENGTH)
        .transform_calculate(fixed=FIXED, each=EACH)
        .transform_calculate(gib="datum.fixed + datum.each * take_batch")
    )


def _peaks(rows: alt.Chart) -> alt.Chart:
    """The moments as lines over the batch, and the batch at which each leaves the card."""
    return (
        _part_rows(rows)
        .transform_aggregate(
            fixed="sum(fixed)",
            each="sum(each)",
            card="max(card_gib)",
            safe="max(safe_gib)",
            sure="max(sure_ratio)",
            groupby=["moment"],
        )
        .transform_calculate(
            total="datum.fixed + datum.each * take_batch",
            room=(
                "datum.each > 1e-9 ? (datum.safe - datum.fixed) / datum.each : (datum.fixed > "
                "datum.safe ? -1 : 1e9)"
            ),
        )
        .transform_joinaggregate(peak="max(total)", most="min(room)")
        .transform_calculate(base="datum.total == datum.peak ? datum.fixed : 0", reach=REACH)
    )


def _figures(ink: Ink, words: Words, rows: alt.Chart) -> alt.Chart:
    """Two lines of text: fixed and for each sequence, the room of the card and what is free."""
    each = f"{EACH_SIZE} + ' for each {words.unit} of ' + format(take_tokens, ',') + ' tokens'"
    first = f"format(datum.fixed, '{DIGITS}') + ' GiB fixed · ' + {each}"
    most = "(datum.most >= 1e9 ? 'any number' : format(max(floor(datum.most + 1e-6), 0), ','))"
    free = (
        f"(datum.free >= 0 ? 'now free: ' : 'now short by ') + format(abs(datum.free), "
        f"'{DIGITS}') + ' GiB'"
    )
    second = f"'{words.room} ' + {most} + ' · ' + {free}"
    return (
        _peaks(rows)
        .transform_filter("datum.total == datum.peak")
        .transform_calculate(free="datum.card - datum.total")
        .transform_calculate(line=f"[{first}, {second}]")
        .mark_text(align="left", baseline="top", fontSize=SIZE, lineHeight=19, color=ink.text)
        .encode(x=alt.value(0), y=alt.value(0), text="line:N")
        .properties(height=36, width="container")
    )


def _moments(
    ink: Ink,
    words: Words,
    rows: alt.Chart,
    components: tuple[str, ...],
    is_narrow: bool,
) -> Any:
    """Return the largest moment of each stop as a bar, with its total and the change."""
    largest = _largest_moments(words, rows)
    x = alt.X(
        "name:N", scale=alt.Scale(domain=list(words.stops), paddingInner=0.25), title=None
    ).axis(
        labelAngle=0,
        labelExpr="split(datum.label, ' ')" if is_narrow else TWO_LINES,
        ticks=False,
        domain=False,
        labelFontSize=SIZE - 2 * is_narrow,
        labelColor=ink.text,
        labelLimit=110,
        labelOverlap=False,
    )
    bars = _moment_bars(ink, largest, components).encode(x=x)
    style: Spec = {"baseline": "bottom", "dy": -4, "fontSize": SIZE - 2 * is_narrow}
    totals = _with_halo(ink, _moment_totals(largest), style, x=x, y="total:Q", text="words:N")
    title = (
        f"{json.dumps(words.models)}[take_dial_0 - 1] + ', ' + take_batch + ' × ' + "
        f"format(take_tokens, ',') + ' tokens'"
    )
    return alt.layer(bars, *_ceiling(ink, words.card, rows), *totals).properties(
        height=MOMENTS_HEIGHT, width="container", title=_title(ink, alt.ExprRef(title))
    )


def _largest_moments(words: Words, rows: alt.Chart) -> alt.Chart:
    """Return the parts of the largest moment of each stop that is reached."""
    return (
        _part_rows(rows)
        .transform_joinaggregate(total="sum(gib)", groupby=["moment"])
        .transform_joinaggregate(largest="max(total)", groupby=["stop"])
        .transform_filter("datum.total == datum.largest && datum.stop <= take_stop")
        .transform_joinaggregate(first="min(moment)", groupby=["stop"])
        .transform_filter("datum.moment == datum.first")
        .transform_calculate(name=f"{json.dumps(words.stops)}[datum.stop - 1]")
    )


def _moment_bars(ink: Ink, largest: alt.Chart, components: tuple[str, ...]) -> alt.Chart:
    """Return stacked bars of the components, with their legend below."""
    colors = {COMPONENT_LABELS[name]: COMPONENT_COLORS[name] for name in components}
    legend = legend_of(ink, colors, 3, labelLimit=160, symbolType="square")
    return largest.mark_bar(stroke=ink.paper, strokeWidth=0.7).encode(
        y=alt.Y("gib:Q", stack="zero").axis(_inside(ink)).scale(alt.Scale(nice=True)),
        color=alt.Color("component:N", **legend),
        order=alt.Order("order:O"),
        tooltip=[
            alt.Tooltip("name:N", title="Moment"),
            alt.Tooltip("component:N", title="Component"),
            alt.Tooltip("gib:Q", title="GiB", format=DIGITS),
        ],
    )


def _moment_totals(largest: alt.Chart) -> alt.Chart:
    """Return the total of each stop, with the change from the stop before in words."""
    change = (
        f"(datum.total < datum.before ? ' −' : ' +') + format(abs(datum.total - datum.before), "
        f"'{DIGITS}')"
    )
    return (
        largest.transform_aggregate(total="max(total)", groupby=["stop", "name"])
        .transform_window(before="lag(total)", sort=[alt.SortField("stop")])
        .transform_calculate(
            words=f"format(datum.total, '{DIGITS}') + (datum.before === null ? '' : {change})"
        )
    )


def _with_halo(ink: Ink, chart: alt.Chart, style: Spec, **channels: Any) -> list[alt.Chart]:
    """Return text, and below it the same text as an outline that sets it off from the lines."""
    return [
        chart.mark_text(**style, stroke=ink.paper, strokeWidth=4).encode(**channels),
        chart.mark_text(**style, color=ink.text).encode(**channels),
    ]


def _slope(ink: Ink, words: Words, rows: alt.Chart) -> Any:
    """Return memory over sequences: range, base and line, the cards, the cliff and the dot."""
    x = alt.X("b:Q", scale=alt.Scale(domainMin=0, nice=False))
    x = x.axis(quantity_axis(ink, words.axis, ",d", tickMinStep=1))
    y = alt.Y("gib:Q").axis(_inside(ink))
    line = _memory_line(rows)
    now = _peaks(rows).transform_aggregate(now="max(total)").transform_calculate(b="take_batch")
    layers = [
        line.mark_area(color=BLUE, opacity=BAND).encode(x=x, y=y, y2="high:Q"),
        line.mark_line(color=BLUE, strokeWidth=1).encode(x=x, y=alt.Y("high:Q")),
        _dashed_line(ink, _cards(rows)),
        line.mark_line(color=ORANGE, strokeWidth=2).encode(x=x, y=alt.Y("base:Q")),
        line.mark_line(color=BLUE, strokeWidth=2).encode(x=x, y=y),
        now.mark_point(filled=True, size=130, color=ink.text, opacity=1).encode(x=x, y="now:Q"),
        *_card_names(ink, rows),  # over the dot, since few sequences have it at the left too
        *_cliff(ink, rows, x),
    ]
    return alt.layer(*layers).properties(
        height=LINE_HEIGHT, width="container", title=_title(ink, words.slope_title)
    )


def _memory_line(rows: alt.Chart) -> alt.Chart:
    """Return memory by number of sequences, at most 65 of them: base, estimate and upper end."""
    return (
        _peaks(rows)
        .transform_calculate(
            b="sequence(0, datum.reach + 1, datum.reach > 64 ? datum.reach / 64 : 1)"
        )
        .transform_flatten(["b"])
        .transform_calculate(gib="datum.fixed + datum.each * datum.b")
        .transform_aggregate(
            gib="max(gib)",
            base="max(base)",
            card="max(card)",
            safe="max(safe)",
            sure="max(sure)",
            groupby=["b"],
        )
        .transform_calculate(high="datum.card + datum.sure * (datum.gib - datum.safe)")
    )


def _dashed_line(ink: Ink, cards: alt.Chart) -> alt.Chart:
    """Return a dashed line at the memory of each card."""
    return cards.mark_rule(strokeDash=[4, 4], color=ink.faint).encode(
        x=alt.value(LABEL), x2=alt.value("width"), y="card_gib:Q"
    )


def _card_names(ink: Ink, rows: alt.Chart) -> list[alt.Chart]:
    """Return the name of each card at the left end of its line, where few sequences are."""
    style: Spec = {"align": "left", "baseline": "bottom", "dx": 2, "dy": -2, "fontSize": SIZE}
    return _with_halo(ink, _cards(rows), style, x=alt.value(LABEL), y="card_gib:Q", text="card:N")


def _cards(rows: alt.Chart) -> alt.Chart:
    """Return the rows of the cards."""
    return rows.transform_filter("datum.kind == 'card'")


def _cliff(ink: Ink, rows: alt.Chart, x: alt.X) -> list[alt.Chart]:
    """Return a cross, with a label, at the number of sequences from which memory runs out."""
    cliff = (
        _peaks(rows)
        .transform_aggregate(b="min(room)", edge="max(card)")
        .transform_filter("datum.b > 0 && datum.b < 1e9")
        .transform_calculate(words="'the cliff: ' + format(floor(datum.b + 1e-6) + 1, ',')")
    )
    style: Spec = {"align": "center", "baseline": "bottom", "dy": -10, "fontSize": SIZE}
    cross = cliff.mark_point(
        shape="cross", angle=45, size=120, filled=True, color=RED, opacity=1
    ).encode(x=x, y="edge:Q")
    return [cross, *_with_halo(ink, cliff, style, x=x, y="edge:Q", text="words:N")]


def _ceiling(ink: Ink, card: str, rows: alt.Chart) -> tuple[alt.Chart, alt.Chart]:
    """The line of the plan's card, named at its right end."""
    line = _peaks(rows).transform_aggregate(card_gib="max(card)")
    return (
        _dashed_line(ink, line),
        line.mark_text(
            align="right", baseline="bottom", dx=-2, dy=-2, fontSize=SIZE, color=ink.text, text=card
        ).encode(x=alt.value("width"), y="card_gib:Q"),
    )


def _inside(ink: Ink) -> alt.Axis:
    """An axis whose labels stand inside the picture, since stacked views have one width."""
    return alt.Axis(
        title=None,
        labelExpr="datum.value ? datum.label + ' GiB' : ''",
        labelAlign="left",
        labelPadding=-4,
        labelBaseline="bottom",
        labelOffset=-2,
        ticks=False,
        domain=False,
        tickCount=4,
        grid=True,
        gridColor=ink.line,
        gridOpacity=0.6,
        labelFontSize=SIZE - 1,
        labelColor=ink.faint,
    )


def _title(ink: Ink, text: Any) -> alt.Title:
    return alt.Title(text, anchor="start", color=ink.text, fontSize=SIZE + 1, offset=8)
