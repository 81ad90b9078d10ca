"""The budget of the first page, counted in a real browser: words, buttons, elements, height, and
what moves while it loads.
"""

import pytest
from browser import PATIENCE_MS, settled

from benchmarks.server import FLOOR_PAGE, Server

pytestmark = pytest.mark.long
MOST = {
    "words": 450,
    "buttons": 30,
    "elements": 55,
    "nodes": 1_100,
    "height": {1440: 2_000, 390: 2_600},
}
MOST_SHIFT = 0.1  # beyond what Streamlit's frame moves by itself on a bare page
LOADS_WHILE_BUSY = 4
SIZES = {1440: 900, 390: 844}
PHONE = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/130.0 Mobile Safari/537.36"
)
WORKS = {"training": "", "serving": "?v=3&goal=serve&model=qwen3-32b&people=20&context_tokens=8192"}
SHIFTS = """(() => {
  window.shifted = 0;
  const add = list => list.getEntries().forEach(entry => { window.shifted += entry.value; });
  new PerformanceObserver(add).observe({type: 'layout-shift', buffered: true});
})()"""
COUNTS = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  const count = selector => app.querySelectorAll(selector).length;
  const icons = [...app.querySelectorAll('[data-testid="stIconMaterial"]')];
  const text = place => app.querySelector(`[data-testid="${place}"]`)?.innerText ?? '';
  const words = place => text(place).split(/\\s+/).filter(word => /\\p{L}/u.test(word)).length;
  const block = document.querySelector('[data-testid="stMainBlockContainer"]');
  return {
    words: words('stSidebar') + words('stMain') - icons.filter(icon => icon.innerText).length,
    buttons: count('button'), elements: count('[data-testid="stElementContainer"]'),
    nodes: count('*'),
    height: Math.ceil(block.getBoundingClientRect().height), shift: window.shifted,
    across: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  };
}"""


@pytest.fixture(scope="module")
def frame_shifts(browser):
    """What Streamlit's frame moves on a bare page, by width."""
    with Server(FLOOR_PAGE) as server:
        address = f"http://{server.address}/"
        yield {width: counted(browser, address, width)["shift"] for width in SIZES}


def counted(browser, url, width):
    """What the page has once it is at rest."""
    phone = {"user_agent": PHONE, "is_mobile": True, "has_touch": True} if width < 600 else {}
    context = browser.new_context(viewport={"width": width, "height": SIZES[width]}, **phone)
    context.add_init_script(SHIFTS)
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("h1", timeout=PATIENCE_MS)
    settled(page)
    page.wait_for_timeout(500)
    result = page.evaluate(COUNTS)
    context.close()
    return result


@pytest.mark.sample(3)
@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("work", WORKS)
def test_the_first_page_keeps_its_budget(work, width, browser, address, frame_shifts):
    most_shift = frame_shifts[width] + MOST_SHIFT
    first = counted(browser, address + WORKS[work], width)
    for _ in range(LOADS_WHILE_BUSY - 1):  # a busy machine delivers parts late
        if first["shift"] > most_shift:
            first = counted(browser, address + WORKS[work], width)
    most = MOST | {"height": MOST["height"][width]}
    assert {name: first[name] for name in most if first[name] > most[name]} == {}
    assert first["shift"] <= most_shift
    assert first["across"] <= 0
