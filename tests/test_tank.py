"""The tank: a picture whose lengths are the row's bytes, in the component colours, that says what does not fit."""

from xml.etree import ElementTree

import pytest

from calc import estimate
from calc.columns import COMPONENTS
from views.charts.tank import data_uri, tank_html, tank_svg
from views.shared.theme import COMPONENT_COLOURS, INKS

SVG = "{http://www.w3.org/2000/svg}"
EIGHT_BILLION = {"model": "llama-3.1-8b", "gpus": 8, "sharding": "zero3", "sequence_tokens": 4096}


def drawn(catalogs, ink="light", width=400, **scenario):
    """A row, and the elements of its picture by class."""
    row = estimate({**EIGHT_BILLION, **scenario}, catalogs, solve=False)
    assert row["problem"] == ""
    root = ElementTree.fromstring(tank_svg(row, INKS[ink], width, 26))
    assert root.tag == f"{SVG}svg"
    assert (root.get("width"), root.get("height")) == (str(width), "26")
    return row, {element.get("class"): element for element in root if element.get("class")}


def wide(element):
    return float(element.get("width"))


def across(path):
    """Where a path begins and where its first line leads."""
    start, _, end = path.get("d").removeprefix("M").partition("H")
    return float(start.split()[0]), float(end.partition("M")[0])


@pytest.mark.parametrize("ink", INKS)
def test_every_component_is_as_wide_as_it_is_large_and_has_its_colour(catalogs, ink):
    row, parts = drawn(catalogs, ink, instance="p5.48xlarge")
    assert row["fits"] == "yes"
    pixels = 398 / row["gpu_memory_bytes"]
    shown = [name for name in COMPONENTS if row[name] > 0]
    assert [name for name in parts if name in COMPONENTS] == shown
    for name in shown:
        assert wide(parts[name]) == pytest.approx(row[name] * pixels, abs=0.01)
        assert parts[name].get("fill") == COMPONENT_COLOURS[name]
    assert sum(wide(parts[name]) for name in shown) == pytest.approx(row["memory_bytes"] * pixels, abs=0.1)
    assert wide(parts["track"]) == 398
    assert across(parts["range"]) == pytest.approx((1 + row["memory_low_bytes"] * pixels, 1 + row["memory_high_bytes"] * pixels), abs=0.01)


def test_what_does_not_fit_runs_over_its_card_and_is_hollow(catalogs):
    row, parts = drawn(catalogs, instance="g5.48xlarge", batch=4)
    assert row["fits"] == "no"
    assert wide(parts["track"]) == pytest.approx(398 * row["gpu_memory_bytes"] / row["memory_high_bytes"], abs=0.01)
    assert across(parts["range"])[1] == pytest.approx(399)
    last = parts["overhead_bytes"]
    assert float(last.get("x")) + wide(last) > 1 + wide(parts["track"])
    assert {parts[name].get("fill-opacity") for name in COMPONENTS if name in parts} == {".15"}
    assert {parts[name].get("stroke") == COMPONENT_COLOURS[name] for name in COMPONENTS if name in parts} == {True}


def test_without_a_card_there_is_no_track_and_as_an_address_no_colour_is_cut_off(catalogs):
    parts = drawn(catalogs)[1]
    assert not {"track", "card"} & set(parts)
    assert across(parts["range"])[1] == pytest.approx(399)
    row = estimate({**EIGHT_BILLION, "instance": "p5.48xlarge"}, catalogs, solve=False)
    address = data_uri(tank_svg(row, INKS["dark"]))
    assert address.startswith("data:image/svg+xml;utf8,<svg ")
    assert "#" not in address
    assert COMPONENT_COLOURS["weights_bytes"].replace("#", "%23") in address


@pytest.mark.parametrize("ink", INKS)
def test_the_tank_as_html_has_the_same_lengths_and_says_them_in_words(catalogs, ink):
    for scenario in ({"instance": "p5.48xlarge"}, {"instance": "g5.48xlarge", "batch": 4}):
        row = estimate({**EIGHT_BILLION, **scenario}, catalogs, solve=False)
        root = ElementTree.fromstring(tank_html(row, INKS[ink], "a & b"))
        assert (root.get("role"), root.get("aria-label")) == ("img", "a & b")
        looks = {part.get("class"): dict(pair.split(":") for pair in part.get("style").split(";")) for part in root if part.get("class")}
        most = max(row["gpu_memory_bytes"], row["memory_high_bytes"])
        shown = [name for name in COMPONENTS if row[name] > 0]
        assert [name for name in looks if name in COMPONENTS] == shown
        for name in shown:
            assert float(looks[name]["width"].rstrip("%")) == pytest.approx(100 * row[name] / most, abs=0.001)
            assert ("border" in looks[name]) == (row["fits"] == "no")
            assert COMPONENT_COLOURS[name] in str(looks[name].values())
        assert float(looks["track"]["width"].rstrip("%")) == pytest.approx(100 * row["gpu_memory_bytes"] / most, abs=0.001)
        ends = [float(looks["range"][side].rstrip("%")) for side in ("left", "width")]
        assert ends[0] == pytest.approx(100 * row["memory_low_bytes"] / most, abs=0.001)
        assert sum(ends) == pytest.approx(100 * row["memory_high_bytes"] / most, abs=0.002)
