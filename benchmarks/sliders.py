"""Sliders of Step through: the time from a key press to the frame that shows its effect.

    python -m benchmarks.sliders [--moves 30]

It opens the picture of the first visit in Chromium and moves each slider by the arrow keys, there
and back.
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
    """Milliseconds of each move of one slider, without the moves that change nothing."""
    slider.focus()
    times_ms = []
    for number in range(count):
        page.keyboard.press("ArrowLeft" if number % 2 == 0 else "ArrowRight")
        page.wait_for_timeout(QUIET_MS)
        seen = page.evaluate("window.moved")
        times_ms += [seen["frame"] - seen["pressed"]] if seen["frame"] else []
    return times_ms


def main():
    """Print a line for each slider, and one for all."""
    arguments = options(__doc__, moves=30)
    all_ms = []
    print("slider                    moves  median ms  95 % ms  most ms")
    with Server() as server, screen(server) as window:
        page = window.page
        page.goto(window.address + PAGE)
        page.locator(SLIDERS).first.wait_for()
        page.wait_for_timeout(4 * QUIET_MS)
        page.evaluate(WATCH)
        for slider in page.locator(SLIDERS).all():
            times_ms = moves(page, slider, arguments.moves)
            all_ms += times_ms
            _print_line(slider.get_attribute("name"), times_ms)
    _print_line("all", all_ms)


def _print_line(name, ms):
    print(f"{name:25} {len(ms):5} {median(ms):10.0f} {p95(ms):8.0f} {max(ms):8.0f}", flush=True)


if __name__ == "__main__":
    main()
