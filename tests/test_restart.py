"""The process is killed while a page is open: it comes back with the whole plan, and the first change after it counts."""

import pytest
from browser import drawn, settled

from benchmarks.server import Server

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("browser")]
KEPT = "mine~model~llama-3.2-1b~work~inference"


def test_a_killed_server_costs_an_open_page_nothing(browser):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    with Server() as first:
        drawn(page, f"http://{first.address}/?model=qwen2.5-7b&examples=70000&kept={KEPT}")
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
        assert page.locator("h1").first.inner_text().startswith("Fine-tuning Qwen2.5 7B")
        assert page.locator('.st-key-kept_tray button:has-text("mine")').count() == 1
        assert page.locator('[data-testid="stException"]').count() == 0
        page.close()
