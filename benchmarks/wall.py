"""Waiting times of people in front of the screen, in Chromium, against the bare page.

    python -m benchmarks.wall [--rounds 3] [--changes 12]

A round is a new server and a new profile of the browser for each page: the first load is cold, the
second warm. Then values change in the sidebar one after another, each from the key or click that
commits it until the last text or chart beside it is painted. Needs chromium.
"""

import shutil
import tempfile
import time
from contextlib import contextmanager
from statistics import median

from benchmarks.floor import options, p95
from benchmarks.server import FLOOR_PAGE, Server

PATIENCE_SECONDS, QUIET_MS = 120, 600
SIDEBAR = '[data-testid="stSidebar"]'
WATCH = """(() => {
  const chart = '[data-testid="stVegaLiteChart"]', main = '[data-testid="stMain"]';
  const seen = window.seen = {first: 0, paint: 0, input: 0, change: 0, idle: true};
  const painted = isPicture => {
    seen.paint = performance.now();
    if (isPicture) seen.first ||= seen.paint;
  };
  for (const name of ['fill', 'stroke', 'fillRect', 'fillText']) {
    const draw = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...given) {
      if (this.canvas.closest?.(chart)) painted(true);
      return draw.apply(this, given);
    };
  }
  for (const kind of ['pointerdown', 'keydown'])
    addEventListener(kind, event => { if (event.isTrusted) seen.input = performance.now(); }, true);
  new MutationObserver(changes => {
    seen.change = performance.now();
    for (const {type, target} of changes) {
      const element = target.nodeType === 1 ? target : target.parentElement;
      const inChart = element?.closest?.('svg') && element.closest(chart);
      if (inChart || (type !== 'attributes' && element?.closest?.(main))) painted(inChart);
    }
    if (!seen.first && document.querySelector(`${main} [role="img"][aria-label]`)) painted(true);
    const app = document.querySelector('[data-testid="stApp"]');
    seen.idle = app?.dataset.testScriptState === 'notRunning';
  }).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
})()"""


class Screen:
    """A page in a browser with an empty profile."""

    def __init__(self, page, server):
        self.page, self.address = page, f"http://{server.address}/"

    def first_picture_ms(self):
        """Time from the request of the page to its first chart or picture of memory. [ms]"""
        self.page.goto(self.address, wait_until="commit")
        return self._wait_until_still(lambda seen: seen["first"])["first"]

    def change_ms(self, number):
        """Time from a committed value to the last paint; None if nothing changes. [ms]

        The kinds of fields take turns.
        """
        (self._choose, self._step)[number % 2](number // 2)
        seen = self._wait_until_still(lambda seen: seen["change"] > seen["input"])
        return seen["paint"] - seen["input"] if seen["paint"] > seen["input"] else None

    def _choose(self, number):
        fields = self.page.locator(f"{SIDEBAR} [data-testid='stSelectbox'] input")
        fields.first.wait_for()
        fields.nth(number % fields.count()).click()
        options = self.page.locator("[role='option']")
        options.first.wait_for()
        chosen = [option.get_attribute("aria-selected") for option in options.all()].index("true")
        self.page.wait_for_timeout(QUIET_MS)
        options.nth((chosen + 1) % options.count()).click()

    def _step(self, number):
        fields = self.page.locator(f"{SIDEBAR} [data-testid='stNumberInput'] input")
        filled = [field for field in fields.all() if field.input_value() and field.is_enabled()]
        filled[number % len(filled)].focus()
        self.page.wait_for_timeout(QUIET_MS)
        self.page.keyboard.press("ArrowUp")
        self.page.keyboard.press("Enter")

    def _wait_until_still(self, begun):
        """Wait until everything that began is done and nothing moves. Return what was seen."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            now_ms, seen = self.page.evaluate("[performance.now(), window.seen]")
            if (
                begun(seen)
                and seen["idle"]
                and now_ms - max(seen["paint"], seen["change"]) > QUIET_MS
            ):
                return seen
            time.sleep(0.02)
        raise SystemExit(f"{self.address} did not come to rest within {PATIENCE_SECONDS} s.")


@contextmanager
def screen(server):
    """Open a Screen of the usual size for as long as the `with` lasts."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise SystemExit("Chromium is missing: apt-get install chromium.")
    size = {"width": 1440, "height": 900}
    with tempfile.TemporaryDirectory() as profile, sync_playwright() as playwright:
        browser = playwright.chromium.launch_persistent_context(
            profile, executable_path=path, args=["--no-sandbox"], viewport=size
        )
        browser.add_init_script(WATCH)
        yield Screen(browser.pages[0], server)
        browser.close()


def time_page(script, changes):
    """Time one round of a page.

    Return the milliseconds of the first picture, cold and warm, and of the changes that were
    painted: their median, their 95th percentile and their number.
    """
    with Server(script) as server, screen(server) as window:
        cold, warm = window.first_picture_ms(), window.first_picture_ms()
        changes_ms = [window.change_ms(number) for number in range(changes)]
    painted = [milliseconds for milliseconds in changes_ms if milliseconds is not None]
    return {
        "cold": cold,
        "warm": warm,
        "p50": median(painted),
        "p95": p95(painted),
        "painted": len(painted),
    }


def main():
    """Run rounds of both pages in turn, and print the ratios of each round."""
    arguments = options(__doc__, rounds=3, changes=12)
    scripts = {"bare": FLOOR_PAGE, "dashboard": "dashboard.py"}
    rounds = []
    print("round  page       cold ms  warm ms  change p50  change p95  painted")
    for number in range(arguments.rounds):
        rounds.append(
            {
                name: time_page(scripts[name], arguments.changes)
                for name in sorted(scripts, reverse=number % 2 == 1)
            }
        )
        for name, times in rounds[-1].items():
            line = "{cold:8,.0f} {warm:8,.0f} {p50:11,.0f} {p95:11,.0f} {painted:8}".format(**times)
            print(f"{number + 1:5}  {name:10}{line}", flush=True)
    for part, name in (
        ("cold", "first picture, cold"),
        ("warm", "first picture, warm"),
        ("p50", "change, median"),
        ("p95", "change, 95 %"),
    ):
        values = [pages["dashboard"][part] / pages["bare"][part] for pages in rounds]
        print(
            f"{name:20} {median(values):5.2f} times the bare page ({min(values):.2f} to "
            f"{max(values):.2f})"
        )


if __name__ == "__main__":
    main()
