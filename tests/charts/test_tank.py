"""The tank, as SVG and as HTML: its lengths are the row's bytes, in the component colors; it says
what does not fit.
"""

from itertools import product
from xml.etree import ElementTree

import pytest

from calc import estimate
from calc.columns import COMPONENTS
from calc.plan.figures import needed_parts
from views.charts.tank import data_uri, tank_html, tank_svg
from views.shared.theme import COMPONENT_COLORS, INKS

EIGHT_BILLION = {"model": "llama-3.1-8b", "gpus": 8, "sharding": "zero3", "sequence_tokens": 4096}
# Fits: where.
PLACES = {
    "yes": {"instance": "p5.48xlarge"},
    "no": {"instance": "g5.48xlarge", "batch": 4},
    "": {},
}
WIDE, HIGH = 402, 26  # pixels of the SVG, of which one at each side is free


def of_svg(row, ink):
    """Name of each part: where it begins and its width, in per cent of the scale; its look; whether
    it is hollow.
    """
    root = ElementTree.fromstring(tank_svg(row, ink, WIDE, HIGH))
    assert (root.tag, root.get("width"), root.get("height")) == (
        "{http://www.w3.org/2000/svg}svg",
        str(WIDE),
        str(HIGH),
    )
    for part in root:
        if part.get("class") == "range":
            left, right = (
                float(text.split()[0].partition("M")[0])
                for text in part.get("d").removeprefix("M").split("H")
            )
        elif part.get("x"):
            left, right = float(part.get("x")), float(part.get("x")) + float(part.get("width"))
        else:
            continue
        yield (
            part.get("class"),
            (
                (left - 1) / 4,
                (right - left) / 4,
                str(part.attrib),
                part.get("fill-opacity") == ".15",
            ),
        )


def of_html(row, ink):
    """The same parts of the tank as HTML."""
    root = ElementTree.fromstring(tank_html(row, ink, "a & b"))
    assert (root.get("role"), root.get("aria-label")) == ("img", "a & b")
    for part in root:
        look = dict(pair.split(":") for pair in part.get("style").split(";"))
        if part.get("class") and not look["left"].startswith("calc"):
            yield (
                part.get("class"),
                (
                    *(float(look[side].rstrip("%")) for side in ("left", "width")),
                    str(look),
                    "border" in look,
                ),
            )


@pytest.mark.parametrize(("draw", "ink", "fits"), [*product((of_svg, of_html), INKS, PLACES)])
def test_every_part_is_as_wide_as_it_is_large_and_what_does_not_fit_runs_over_its_card(
    catalogs, draw, ink, fits
):
    row = estimate(EIGHT_BILLION | PLACES[fits], catalogs, solve=False)
    assert (row["problem"], row["fits"]) == ("", fits)
    parts, card = dict(draw(row, INKS[ink])), row["gpu_memory_bytes"] if fits else 0.0
    percent = 100 / max(card, row["needed_high_bytes"])
    sizes = needed_parts(row)
    shown, outline = (
        [name for name in COMPONENTS if sizes.get(name, 0) > 0],
        0.4 if fits == "no" else 0.02,
    )
    assert [name for name in parts if name in COMPONENTS] == shown
    for name in shown:
        _, width, look, is_hollow = parts[name]
        assert width == pytest.approx(sizes[name] * percent, abs=outline)
        assert (COMPONENT_COLORS[name] in look, is_hollow) == (True, fits == "no")
    assert sum(parts[shown[-1]][:2]) == pytest.approx(row["needed_bytes"] * percent, abs=outline)
    assert ("track" in parts) == bool(fits)
    assert not fits or parts["track"][:2] == pytest.approx((0, card * percent), abs=0.01)
    low, width, *_ = parts["range"]
    assert (low, low + width) == pytest.approx(
        (row["needed_low_bytes"] * percent, row["needed_high_bytes"] * percent), abs=0.02
    )


def test_as_an_address_no_color_is_cut_off(catalogs):
    address = data_uri(
        tank_svg(estimate(EIGHT_BILLION | PLACES["yes"], catalogs, solve=False), INKS["dark"])
    )
    assert address.startswith("data:image/svg+xml;utf8,<svg ")
    assert "#" not in address
    assert COMPONENT_COLORS["weights_bytes"].replace("#", "%23") in address
