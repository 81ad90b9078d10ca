"""One real browser: the page is drawn, another model changes the charts, the CSV gives the same numbers again."""

import io
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pandas as pd
import pytest
from examples import catalogs

from calc import estimate
from calc.doors import csv_tables
from views.panels import board

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
pytestmark = pytest.mark.xdist_group("browser")  # one server and one browser; the largest group starts first
ROW, HEADER = board.ROW, board.HEADER
CHART = '[data-testid="stVegaLiteChart"]'


def missing(what):
    """Skip on a machine without it; in continuous integration its absence is a failure."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and CI must run the browser test")
    pytest.skip(f"{what} is missing: apt-get install chromium, pip install -r requirements/dev.txt")


@pytest.fixture(scope="module")
def address():
    """The dashboard, served on a free port for as long as the module runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "dashboard.py", "--server.port", str(port)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for_health(port)
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()


def wait_for_health(port):
    for _ in range(240):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.25)
    pytest.fail("the dashboard did not start within a minute")


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        missing("Chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def drawn(page, url):
    """The page with its charts drawn; what the console complains of is kept on it."""
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(url)
    page.wait_for_selector(f"{CHART} svg", timeout=60_000)
    settled(page)
    return errors


def settled(page):
    """Wait until the script has run and what it sent is painted."""
    page.wait_for_timeout(600)
    page.wait_for_function("document.querySelector('[data-testid=\"stApp\"]').dataset.testScriptState === 'notRunning'")
    page.wait_for_timeout(600)


def tanks_drawn(page):
    """How many pictures of a row's memory the browser could draw; each has words for those who do not see it."""
    return page.evaluate("[...document.querySelectorAll('img[alt*=\"GiB\"]')].filter(each => each.naturalWidth > 0).length")


def at_row(page, row, across):
    """Click in a row of the board, so many pixels from its left."""
    table = page.locator('[data-testid="stDataFrame"]').first
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    page.mouse.click(box["x"] + across, box["y"] + HEADER + ROW * (row + 0.5))
    settled(page)


def chart_texts(page):
    """What is written in the first chart: names of bars and totals."""
    return page.locator(CHART).first.locator("svg text").all_text_contents()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_the_page_is_drawn_without_errors_or_overflow(browser, address, scheme, width):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    errors = drawn(page, address)
    assert page.locator("h1").first.inner_text().startswith("Fine-tuning Llama 3.1 8B costs about")
    assert any("GiB" in text for text in chart_texts(page))
    assert tanks_drawn(page) >= 2  # an answer, and the row looked at
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wider) <= 0
    assert page.locator('[data-testid="stException"]').count() == 0
    assert errors == []
    page.close()


def test_changing_the_model_changes_charts_and_the_csv_gives_the_same_numbers(browser, address):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    errors = drawn(page, address)
    before = chart_texts(page)

    model = page.get_by_role("combobox", name="Model")
    model.click()
    model.fill("Llama 3.2 3B")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('h1').innerText.startsWith('Fine-tuning Llama 3.2 3B')", timeout=30_000)
    settled(page)
    assert chart_texts(page) != before
    assert "model=llama-3.2-3b" in page.url

    with page.expect_download() as waiting:
        page.get_by_role("button", name="CSV").first.click()
    content = Path(waiting.value.path()).read_bytes()
    scenarios, complaints = csv_tables.from_csv(content)
    assert complaints == []
    written = pd.read_csv(io.BytesIO(content))
    again = estimate(scenarios, catalogs())
    assert len(written) > 10
    assert again["memory_bytes"].tolist() == pytest.approx(written["memory_bytes"].tolist(), rel=1e-12)
    assert again["usd_per_hour_on_demand"].tolist() == pytest.approx(written["usd_per_hour_on_demand"].tolist())
    assert f"${written['usd'].iloc[0]:,.0f}" in page.locator("h1").first.inner_text()
    assert f"{written['memory_bytes'].iloc[0] / 2**30:.3g} of" in page.locator('[data-testid="stMain"]').inner_text()
    assert errors == []
    page.close()


def test_a_cell_of_the_board_is_looked_at_and_ticks_are_kept(browser, address):
    page = browser.new_page(viewport={"width": 1440, "height": 2400})
    errors = drawn(page, address)
    heading, middle = page.locator("h1").first.inner_text(), page.locator("h3").first.inner_text()
    at_row(page, 2, 500)
    assert page.locator("h1").first.inner_text() == heading
    assert page.locator("h3").first.inner_text() != middle
    at_row(page, 3, 18)
    at_row(page, 4, 18)
    page.get_by_role("button", name="Keep ticked (2)").click()
    settled(page)
    assert page.locator('.st-key-kept_tray button:has-text("$")').count() == 2
    assert page.url.count("kept=") == 2
    assert errors == []
    page.close()


def test_a_link_opens_the_same_screen_in_a_new_browser(browser, address):
    first = browser.new_page()
    drawn(first, f"{address}?model=qwen2.5-7b&gpus=4&instance=p4de.24xlarge")
    heading, link = first.locator("h1").first.inner_text(), first.url
    first.close()
    second = browser.new_context().new_page()
    drawn(second, link)
    assert second.locator("h1").first.inner_text() == heading
    second.close()
