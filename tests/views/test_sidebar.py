"""The sidebar in a real browser: one screen, a group and a focus that stay, links in a new profile,
a killed server.
"""

import pytest
from browser import PATIENCE_MS, drawn, settled

from benchmarks.server import Server

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


@pytest.mark.long
def test_the_job_is_on_one_screen_without_scrolling(browser, address):
    page = opened(browser, f"{address}?goal=train&gpus=8&markets=on-demand&markets=spot")
    for goal in ("Train", "Fine-tune", "Serve", "My GPUs"):
        press(page, "work", goal)
        page.wait_for_selector(f"{SIDEBAR} [data-testid='stNumberInput'] input")
        over = page.evaluate(
            f"(e => e.scrollHeight - e.clientHeight)(document.querySelector('{SIDEBAR}'))"
        )
        assert over <= 0, goal
        assert page.locator(GROUP).get_attribute("open") is None
        kinds = ":is([data-testid='stNumberInput'], [data-testid='stTextInput'])"
        cut = (
            f"[...document.querySelectorAll(`{SIDEBAR} {kinds} input`)].filter(e "
            "=> e.scrollWidth > e.clientWidth).length"
        )
        assert page.evaluate(cut) == 0, goal
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
def test_a_killed_server_costs_an_open_page_nothing(browser):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    with Server() as first:
        drawn(
            page,
            f"http://{first.address}/?model=qwen2.5-7b&examples=70000&kept=mine~model~llama-3.2-1b~work~inference",
        )
        examples = page.get_by_role("textbox", name="Examples")
        assert examples.input_value() == "70,000"
        first.process.kill()
    with Server(port=first.port):
        page.wait_for_function(
            "!document.querySelector('[data-testid=\"stConnectionStatus\"]')", timeout=PATIENCE_MS
        )
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
