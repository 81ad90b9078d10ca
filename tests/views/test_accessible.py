"""Keyboard, screen reader, contrast, zoom and motion, on every page and tab in a real browser; axe
judges names, roles and contrast.
"""

import pytest
from browser import drawn, missing, settled

from views.session.tabs import TABS

pytestmark = pytest.mark.long
PLAN = (
    "",
    "?goal=serve&people=20&model=qwen3-32b",
    "?have=8+x+h100-80gb-sxm",
    "?model=llama-3.1-405b&usd_most=1",
    "bring",
)
PAGES = [*PLAN, *(f"{page}?view={tab}" for page, tabs in TABS.items() for tab in tabs)]
KEPT = (
    "kept=A~model~llama-3.1-8b~gpus~8~sharding~zero3~instance~p4de.24xlarge~train_tokens~150000000"
)
# Marks inside a chart, which its own label speaks for, and the frame's own menu, are not ours to
# name.
EXCLUDED = [[".vega-embed"], ['[data-testid="stMainMenu"]'], ['[data-testid="stDataFrame"]']]
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21aa"]}}
WIDER = (
    "(() => { const m = document.querySelector('[data-testid=\"stMain\"]'); return m.scrollWidth "
    "- m.clientWidth; })()"
)
# A cell of a grid is drawn on the grid's canvas.
FOCUSED = """(() => { const e = document.activeElement,
    r = (e.closest('[data-testid="stDataFrame"]') ?? e).getBoundingClientRect();
  return {name: e.getAttribute('aria-label') || e.innerText || e.id || e.tagName,
          body: e === document.body, seen: r.width > 0 && r.height > 0,
          inMain: !!e.closest('[data-testid="stMain"]')}; })()"""


MARKED = """() => [...document.querySelectorAll('[aria-label], [title], [alt]')]
  .flatMap(e => ['aria-label', 'title', 'alt'].map(name => e.getAttribute(name)))
  .filter(text => text && /[*][*]|:[a-z]+\\[|:material|\\]\\(/.test(text))"""  # Markdown
PLACES = """() => [...document.querySelectorAll('[data-testid="stTopNavLink"]')]
  .map(e => Math.round(e.getBoundingClientRect().x))"""


@pytest.fixture(scope="module")
def axe():
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        missing("axe is not installed", "pip install -r requirements/dev.txt")
    return Axe()


def page_of(browser, address, place, **context):
    page = browser.new_context(
        **({"viewport": {"width": 1440, "height": 900}} | context)
    ).new_page()
    drawn(page, f"{address}{place}{'&' if '?' in place else '?'}{KEPT}")
    return page


def test_focus_stays_on_keep_names_have_no_marks_paper_no_sidebar_and_pages_stay_at_their_places(
    browser, address
):
    page = page_of(browser, address, "")
    page.get_by_role("button", name="Keep this answer").focus()
    page.keyboard.press("Enter")
    settled(page)
    assert page.evaluate("document.activeElement.innerText").endswith("Kept")
    page.get_by_text("Set by hand").first.click()
    settled(page)
    assert page.evaluate(MARKED) == []
    at_first = page.evaluate(PLACES)
    for name in ("Compare & bill", "Understand", "Catalog", "Plan"):
        page.get_by_role("link", name=name).first.click()
        settled(page)
        assert page.evaluate(PLACES) == at_first, name
    page.emulate_media(media="print")
    page.locator('[data-testid="stSidebar"]').wait_for(state="hidden")
    assert page.locator("h1").first.is_visible()
    page.context.close()


# Every page in light; in dark, whose colors come from the same table, one of ten.
SEEN = [*((place, "light") for place in PAGES), *((place, "dark") for place in PAGES[::10])]


@pytest.mark.sample(4)
@pytest.mark.parametrize(("place", "scheme"), SEEN)
def test_names_roles_tables_contrast_zoom_phone_and_motion(browser, address, axe, place, scheme):
    page = page_of(browser, address, place, color_scheme=scheme, reduced_motion="reduce")
    violations = axe.run(page, context={"exclude": EXCLUDED}, options=RULES).response["violations"]
    faults = {
        fault["id"]: [node["html"][:160] for node in fault["nodes"][:3]] for fault in violations
    }
    if scheme == "dark":  # the sizes are the same in both
        page.context.close()
        assert faults == {}
        return
    for name, width, height in (("200 %", 720, 450), ("phone", 390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        settled(page)
        over = page.evaluate(WIDER)
        faults |= {f"{name}: wider than the screen": over} if over > 0 else {}
    moving = page.evaluate("document.getAnimations().filter(a => a.playState === 'running').length")
    page.context.close()
    assert (faults, moving) == ({}, 0)


@pytest.mark.parametrize("place", ["", "compare?view=compare", "catalog?view=instances"])
def test_tab_reaches_pages_undo_and_the_page_itself_each_stop_in_sight_and_named(
    browser, address, place
):
    page = page_of(browser, address, place)
    stops = []
    for _ in range(60):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(FOCUSED))
        if stops[-1]["body"]:
            break
    page.context.close()
    names = [stop["name"] for stop in stops]
    assert all(
        any(page_name in name for name in names)
        for page_name in ("Plan", "Compare & bill", "Understand", "Catalog")
    )
    assert any(stop["inMain"] for stop in stops)
    assert [
        stop for stop in stops if not (stop["body"] or (stop["seen"] and stop["name"].strip()))
    ] == []


def test_the_sliders_of_step_through_and_their_hand_over_are_reached_by_tab(browser, address):
    page = page_of(browser, address, "understand?view=step")
    page.locator(".vega-bind").filter(has_text="Step through").locator("input, select").last.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    batch = page.evaluate("document.activeElement.value")
    for _ in range(8):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.type") == "checkbox":
            break
    assert (
        page.evaluate("document.activeElement.labels[0].innerText") == "Use these settings in Plan"
    )
    page.keyboard.press("Space")
    page.get_by_text("The plan has these settings now.").wait_for()
    settled(page)
    assert f"&batch={batch}&" in page.url
    page.context.close()
