"""The memory of a row as a tank: the card as track, components in it, the range as whisker."""

from collections.abc import Iterator
from html import escape

from calc.evaluate import Row
from calc.plan.figures import needed_parts, released_cache_bytes
from views.shared.theme import COMPONENT_COLORS, Ink

OUTLINE = 1.4  # pixels of a component's outline in a row that does not fit


def tank_svg(row: Row, ink: Ink, width: int = 200, height: int = 22) -> str:
    """An SVG of one result row, `width` x `height` pixels.

    The scale ends at the card, or at the high end of the range if that is further: a row that is
    too large runs over its card's end, and is drawn hollow.
    """
    card, low, high, most = _ends(row)
    pixels = (width - 2) / most
    parts = [*_track(card * pixels, ink, height), *_components(row, pixels, ink, height)]
    parts += [
        *_card_end(card * pixels, ink, height),
        *_whisker(1 + low * pixels, 1 + high * pixels, ink, height),
    ]
    size = f"width='{width}' height='{height}' viewBox='0 0 {width} {height}'"
    return f"<svg xmlns='http://www.w3.org/2000/svg' {size}>{''.join(parts)}</svg>"


def tank_html(row: Row, ink: Ink, alt: str, height: int = 14, margin: str = "0") -> str:
    """Return the tank as HTML, as wide as its container: `st.html` draws no SVG."""
    card, low, high, most = _ends(row)
    percent = 100 / most
    boxes = []
    if card > 0:
        boxes = [_box(0, card * percent, 0, f"background:{ink.track};border-radius:2px", "track")]
    boxes += _component_boxes(row, percent, ink)
    line = f"background:{ink.text}"
    if high > 0:
        thin = f"{line};box-shadow:0 0 0 1px {ink.paper}"
        boxes += [
            _box(low * percent, (high - low) * percent, height / 2 - 1, thin, "range"),
            *(_box(_beside(end * percent, 1), "2px", height * 0.25, thin) for end in (low, high)),
        ]
    if card > 0:
        boxes.append(_box(_beside(card * percent, 2), "2px", -2, line, "card"))
    return (
        f"<div role='img' aria-label='{escape(alt, quote=True)}' "
        f"style='position:relative;height:{height}px;margin:{margin}'>{''.join(boxes)}</div>"
    )


def _component_boxes(row: Row, percent: float, ink: Ink) -> Iterator[str]:
    """The components in order, as wide as they are large; outlined where the row does not fit."""
    left, hollow = 0.0, row["fits"] == "no"
    for name, size in needed_parts(row).items():
        wide = size * percent
        if not wide > 0:
            continue
        color = COMPONENT_COLORS[name]
        solid = f"background:{color};border-right:1px solid {ink.paper}"
        fill = f"border:{OUTLINE}px solid {color}" if hollow else solid
        yield _box(left, wide, 1, f"{fill};box-sizing:border-box", name)
        left += wide
    cached = released_cache_bytes(row) * percent
    if cached > 0 and not hollow:
        yield _box(left, cached, 1, f"background:{ink.faint};opacity:.35", "cache")


def _beside(percent: float, pixels: int) -> str:
    """A place in CSS, some pixels left of a percentage of the width."""
    return f"calc({percent:.3f}% - {pixels}px)"


def _box(left: float | str, wide: float | str, inset: float, look: str, name: str = "") -> str:
    """A part of a tank: place and width in per cent or as CSS, and its inset in pixels."""
    across = ";".join(
        f"{key}:{value if isinstance(value, str) else f'{value:.3f}%'}"
        for key, value in (("left", left), ("width", wide))
    )
    of = f" class='{name}'" if name else ""
    return (
        f"<div{of} "
        f"style='position:absolute;{across};top:{inset:g}px;bottom:{inset:g}px;{look}'></div>"
    )


def _ends(row: Row) -> tuple[float, float, float, float]:
    """The card, both ends of the range, and where the scale ends. [B]"""
    card = float(row["gpu_memory_bytes"])
    low = float(row["needed_low_bytes"])
    high = float(row["needed_high_bytes"])
    return card, low, high, max(value for value in (card, high, 1.0) if value == value)


def data_uri(svg: str) -> str:
    """The picture as an address, for a cell of a table."""
    return "data:image/svg+xml;utf8," + svg.replace("#", "%23")


def _track(wide: float, ink: Ink, height: int) -> Iterator[str]:
    """The card; nothing where no card is named."""
    if wide > 0:
        yield (
            f"<rect class='track' x='1' y='2' width='{wide:.2f}' height='{height - 4}' rx='2' "
            f"fill='{ink.track}'/>"
        )


def _components(row: Row, pixels: float, ink: Ink, height: int) -> Iterator[str]:
    """The components in order, as wide as they are large; outlined where the row does not fit."""
    left, hollow = 1.0, row["fits"] == "no"
    for name, size in needed_parts(row).items():
        wide = size * pixels
        if not wide > 0:
            continue
        line = min(OUTLINE if hollow else 0.8, wide / 4)
        inset = line / 2 if hollow else 0.0
        place = (
            f"x='{left + inset:.2f}' y='{4 + inset:.2f}' width='{wide - 2 * inset:.2f}' "
            f"height='{height - 8 - 2 * inset:.2f}'"
        )
        color = COMPONENT_COLORS[name]
        look = f"fill-opacity='.15' stroke='{color}'" if hollow else f"stroke='{ink.paper}'"
        yield f"<rect class='{name}' {place} fill='{color}' {look} stroke-width='{line:.2f}'/>"
        left += wide
    cached = released_cache_bytes(row) * pixels
    if cached > 0 and not hollow:
        yield (
            f"<rect class='cache' x='{left:.2f}' y='4' width='{cached:.2f}' height='{height - 8}' "
            f"fill='{ink.faint}' fill-opacity='.35'/>"
        )


def _card_end(wide: float, ink: Ink, height: int) -> Iterator[str]:
    """The end of the card over the components, so that what runs past it is seen."""
    if wide > 0:
        yield (
            f"<path class='card' d='M{1 + wide:.2f} 0V{height}' stroke='{ink.faint}' "
            f"stroke-width='1.6'/>"
        )


def _whisker(left: float, right: float, ink: Ink, height: int) -> Iterator[str]:
    """The range of the estimate with its two ends, on a halo of paper."""
    if right > 1:
        middle, end = height / 2, height * 0.3
        ends = "".join(f"M{x:.2f} {middle - end / 2:.1f}v{end:.1f}" for x in (left, right))
        path = f"M{left:.2f} {middle}H{right:.2f}{ends}"
        yield (
            f"<path d='{path}' stroke='{ink.paper}' stroke-width='3.6' stroke-opacity='.85' "
            f"fill='none'/>"
        )
        yield f"<path class='range' d='{path}' stroke='{ink.text}' stroke-width='1.6' fill='none'/>"
