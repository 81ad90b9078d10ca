"""The sidebar in a real browser: one screen, a group and a focus that stay, links in a new profile, a killed server."""

import pytest
from browser import drawn, settled

from benchmarks.server import Server

pytestmark = pytest.mark.xdist_group("browser")
SIDEBAR = '[data-testid="stSidebarContent"]'
GROUP = '[data-testid="stSidebar"] details'


def opened(browser, url, **more):
    """A page in a profile of its own, with its charts drawn."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}, **more).new_page()
    assert drawn(page, url) == []
    return page


def pill(page, key, text):
    """The button of a value."""
    return page.locator(f".st-key-{key} button").filter(has_text=text).first


def press(page, key, text):
    pill(page, key, text).click()
    settled(page)


def test_the_job_is_on_one_screen_without_scrolling(browser, address):
    page = opened(browser, f"{address}?goal=train&gpus=8&markets=on-demand&markets=spot")
    for goal in ("Train", "Fine-tune", "Serve", "My GPUs"):
        press(page, "work", goal)
        page.wait_for_selector(f"{SIDEBAR} [data-testid='stNumberInput'] input")
        over = page.evaluate(f"(e => e.scrollHeight - e.clientHeight)(document.querySelector('{SIDEBAR}'))")
        assert over <= 0, goal
        assert page.locator(GROUP).get_attribute("open") is None
        cut = "[...document.querySelectorAll(`%s [data-testid='stNumberInput'] input`)].filter(e => e.scrollWidth > e.clientWidth).length"
        assert page.evaluate(cut % SIDEBAR) == 0, goal
    page.context.close()


@pytest.mark.long
def test_the_group_stays_open_and_focus_stays_while_a_value_changes(browser, address):
    page = opened(browser, address)
    page.get_by_text("Set by hand").first.click()
    settled(page)
    pill(page, "gpus", "8").focus()
    for pressed in (True, False, True):
        page.keyboard.press("Space")
        settled(page)
        assert ("gpus=8" in page.url) == pressed
        assert page.evaluate("document.activeElement.innerText") == "8"
        assert page.locator(GROUP).get_attribute("open") is not None
    press(page, "auto_gpus", "GPUs")
    assert "gpus=" not in page.url
    press(page, "undo", "Undo")
    assert "gpus=8" in page.url
    assert page.locator(GROUP).get_attribute("open") is not None
    page.context.close()


@pytest.mark.long
def test_a_cleared_field_takes_its_last_value_and_a_value_holds_on_every_page(browser, address):
    page = opened(browser, f"{address}?examples=20000")
    field = page.get_by_role("spinbutton", name="Examples")
    field.fill("")
    page.keyboard.press("Enter")
    settled(page)
    assert field.input_value() == "20000"
    assert "examples=20000" in page.url
    page.context.close()
    page = opened(browser, f"{address}?examples=20000")
    for name in ("Compare & bill", "Catalog", "Plan"):
        page.get_by_role("link", name=name).first.click()
        settled(page)
        assert "examples=20000" in page.url
    assert page.get_by_role("spinbutton", name="Examples").input_value() == "20000"
    page.context.close()


@pytest.mark.long
def test_the_link_of_a_kept_scenario_opens_in_a_new_profile(browser, address):
    first = opened(browser, f"{address}?model=qwen2.5-7b&goal=serve&users=20&precision=fp8")
    first.get_by_role("button", name="Keep this answer").first.click()
    settled(first)
    press(first, "undo", "Undo")
    first.get_by_role("button", name="Share").click()
    press(first, "redo", "Redo")
    texts = [first.locator(selector).first.inner_text() for selector in ("h1", 'a:has-text("Compare & bill (1)")', SIDEBAR)]
    second = opened(browser, first.url)
    assert [second.locator(selector).first.inner_text() for selector in ("h1", 'a:has-text("Compare & bill (1)")', SIDEBAR)] == texts
    assert second.url == first.url
    first.context.close()
    second.context.close()


@pytest.mark.long
def test_a_killed_server_costs_an_open_page_nothing(browser):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    with Server() as first:
        drawn(page, f"http://{first.address}/?model=qwen2.5-7b&examples=70000&kept=mine~model~llama-3.2-1b~work~inference")
        examples = page.get_by_role("spinbutton", name="Examples")
        assert examples.input_value() == "70000"
        first.process.kill()
    with Server(port=first.port):
        page.wait_for_function("!document.querySelector('[data-testid=\"stConnectionStatus\"]')", timeout=60_000)
        settled(page)
        examples.fill("90000")
        page.keyboard.press("Enter")
        page.wait_for_function("location.search.includes('examples=90000')", timeout=30_000)
        settled(page)
        assert "model=qwen2.5-7b" in page.url
        assert "llama-3.2-1b" in page.url.partition("kept=")[2]
        assert "Fine-tune all weights of Qwen2.5 7B on " in page.inner_text("body")
        assert page.get_by_role("link", name="Compare & bill (1)").count() == 1
        assert page.locator('[data-testid="stException"]').count() == 0
        page.close()
