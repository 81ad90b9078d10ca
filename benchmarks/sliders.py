"""The sliders of Step through: from a key press to the frame that shows what it moved, in Chromium.

    python -m benchmarks.sliders [--moves 30]

The picture of the first visit; each slider is moved by the arrow keys, there and back. Needs
chromium.
"""

from statistics import median

from benchmarks.floor import options, p95
from benchmarks.server import Server
from benchmarks.wall import screen

PAGE, QUIET_MS = "understand?view=step", 250
SLIDERS = '[data-testid="stVegaLiteChart"] input[type="range"]'
WATCH = """() => {
  const moved = window.moved = {pressed: 0, frame: 0};
  addEventListener('keydown', () => { moved.pressed = performance.now(); moved.frame = 0; }, true);
  const picture = document.querySelector('[data-testid="stVegaLiteChart"] svg');
  new MutationObserver(() => requestAnimationFrame(() => { moved.frame = performance.now(); }))
    .observe(picture, {subtree: true, childList: true, attributes: true, characterData: true});
}"""


def moves(page, slider, count):
    """The milliseconds of a number of moves of one slider; none for a move that changes nothing."""
    slider.focus()
    taken = []
    for number in range(count):
        page.keyboard.press("ArrowLeft" if number % 2 == 0 else "ArrowRight")
        page.wait_for_timeout(QUIET_MS)
        seen = page.evaluate("window.moved")
        taken += [seen["frame"] - seen["pressed"]] if seen["frame"] else []
    return taken


def main():
    """A line for each slider, and one for all."""
    arguments, together = options(__doc__, moves=30), []
    print("slider                    moves  median ms  95 % ms  most ms")
    with Server() as server, screen(server) as shown:
        page = shown.page
        page.goto(shown.address + PAGE)
        page.locator(SLIDERS).first.wait_for()
        page.wait_for_timeout(4 * QUIET_MS)
        page.evaluate(WATCH)
        for slider in page.locator(SLIDERS).all():
            taken = moves(page, slider, arguments.moves)
            together += taken
            _line(slider.get_attribute("name"), taken)
    _line("all", together)


def _line(name, taken):
    print(
        f"{name:25} {len(taken):5} {median(taken):10.0f} {p95(taken):8.0f} {max(taken):8.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
