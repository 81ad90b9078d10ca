"""A real browser on a dashboard of its own: what the tests share that need one."""

import os
import shutil

import pytest

from benchmarks.server import Server

CHROMIUM = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)
PATIENCE_MS = 150_000  # three browsers on two cores are slow; no test is about speed
QUIET = """limit => new Promise((done, fail) => {
  const begun = performance.now();
  let changed = begun;
  const seen = new MutationObserver(() => { changed = performance.now(); });
  seen.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
  const look = () => {
    const app = document.querySelector('[data-testid="stApp"]').dataset;
    const moving = document.getAnimations().some(
      a => a.playState === 'running' && a.effect.getComputedTiming().endTime < Infinity);
    const running = app.testScriptState !== 'notRunning';
    if (performance.now() - begun > limit) return fail(new Error('the page does not come to rest'));
    if (running || moving || performance.now() - changed < 350) return setTimeout(look, 50);
    seen.disconnect();
    done();
  };
  look();
})"""
# While others ask, plans of Compare choices come seconds apart; then the page is drawn anew, and
# all of it fades.
PLANNED = """() => ![...document.querySelectorAll('[data-testid="stProgress"]')].some(
  bar => bar.innerText.trim().endsWith(' plans'))"""
CHART, MAIN = '[data-testid="stVegaLiteChart"]', '[data-testid="stMain"]'


def missing(what, cure):
    """Skip on a machine without it; in continuous integration, which installs it, its absence is a
    failure.
    """
    if os.environ.get("CI"):
        pytest.fail(f"{what}, and CI must run this test: {cure}")
    pytest.skip(f"{what}: {cure}")


@pytest.fixture(scope="session")
def address():
    """The dashboard, served on a free port for as long as the tests run."""
    with Server() as server:
        yield f"http://{server.address}/"


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        missing("Chromium is not installed", "apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed", "pip install -r requirements/dev.txt")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def drawn(page, url):
    """The page drawn; what the console complains of is kept on it."""
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "console", lambda message: errors.append(message.text) if message.type == "error" else None
    )
    page.goto(url)
    page.wait_for_selector(f"{MAIN} h1", timeout=PATIENCE_MS)
    settled(page)
    page.wait_for_function(
        "chart => [...document.querySelectorAll(chart)].every(e => e.querySelector('svg, canvas'))",
        arg=CHART,
    )
    page.wait_for_function(PLANNED, timeout=PATIENCE_MS)
    settled(page)
    return errors


def settled(page):
    """Wait until the script has run, colors have faded in, and the page has not changed for a third
    of a second.
    """
    page.wait_for_timeout(200)  # a click is on its way
    page.evaluate(QUIET, PATIENCE_MS)
