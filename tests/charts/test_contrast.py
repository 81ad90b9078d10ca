"""Contrast by computation (WCAG 2.2, 1.4.3 and 1.4.11): text 4.5 : 1 and marks 3 : 1 on the paper
of both themes.
"""

import pytest

from calc.memory.moments import components_of
from views.charts import accuracy, against_time, lines, memory, price_history, step_through
from views.charts.step_through import Choice, Slider, Words
from views.shared.theme import INKS, PALETTE

TEXT, MARK = 4.5, 3.0
COMPONENTS = components_of("training")
NUMBER = Slider("", 1, 1, 2, 1)
CHARTS = {
    "predicted": lambda ink: accuracy.predicted_against_truth(ink, "GiB", "measured", "Memory"),
    "errors": accuracy.error_by_family,
    "money": lambda ink: against_time.cost_against_time(ink, "hours", "USD"),
    "lines": lambda ink: lines.over(ink, "Memory", ("GPUs", "d"), ("GiB", "d")),
    "bars": lambda ink: memory.bars(ink, COMPONENTS, "Memory"),
    "phases": lambda ink: memory.phases(ink, COMPONENTS),
    "prices": price_history.price_history,
    "step": lambda ink: step_through.step_through(
        ink,
        Words("", ("1",), *[""] * 3, ("1",), *[""] * 3),
        NUMBER,
        NUMBER,
        (Choice("", ("a", "b"), 1),),
        COMPONENTS,
    ),
}


def channels(color):
    return [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]


def luminance(values):
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values
    ]
    return sum(
        weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
    )


def contrast(color, paper, opacity=1.0):
    """The contrast of a color that is laid on a paper."""
    ground = channels(paper)
    laid = [
        opacity * over + (1 - opacity) * under
        for over, under in zip(channels(color), ground, strict=True)
    ]
    dark, light = sorted((luminance(laid), luminance(ground)))
    return (light + 0.05) / (dark + 0.05)


def marks(spec):
    """Each mark of a specification: its type, its colors and how opaque they are."""
    if isinstance(spec, dict):
        if "mark" in spec:
            mark = spec["mark"] if isinstance(spec["mark"], dict) else {"type": spec["mark"]}
            scales = [
                spec["encoding"].get(channel, {}).get("scale", {}).get("range")
                for channel in ("color", "stroke")
            ]
            colors = next((scale for scale in scales if scale), None) or [mark.get("color", "")]
            yield mark["type"], [color for color in colors if color], mark.get("opacity", 1.0)
        for part in spec.values():
            yield from marks(part)
    elif isinstance(spec, list):
        for part in spec:
            yield from marks(part)


@pytest.mark.parametrize("scheme", INKS)
def test_text_and_every_color_of_the_palette_stand_out_from_the_paper(scheme):
    ink = INKS[scheme]
    words = {
        name: contrast(getattr(ink, name), ink.paper) for name in ("text", "faint", "amber", "link")
    }
    assert {name: ratio for name, ratio in words.items() if ratio < TEXT} == {}
    assert {color for color in PALETTE if contrast(color, ink.paper) < MARK} == set()


@pytest.mark.sample(2)
@pytest.mark.parametrize("scheme", INKS)
@pytest.mark.parametrize("chart", CHARTS)
def test_every_mark_of_a_chart_stands_out_from_the_paper(chart, scheme):
    ink = INKS[scheme]
    # Halos, leaders to a name, the ground of a card whose end is a mark of its own.
    guides = {
        ink.paper,
        ink.line,
        ink.track,
    }
    drawn = [
        (kind, color, opacity)
        for kind, colors, opacity in marks(CHARTS[chart](ink))
        for color in colors
        if color not in guides
    ]
    assert drawn
    lines = {color for kind, color, _ in drawn if kind == "line"}
    assert [
        mark
        for mark in drawn
        if not (mark[0] == "area" and mark[1] in lines)  # the ground between two lines
        and contrast(mark[1], ink.paper, mark[2]) < (TEXT if mark[0] == "text" else MARK)
    ] == []
