"""One real browser: the page is drawn, another model changes the charts, the CSV gives the same
numbers again.
"""

import io
from datetime import date
from pathlib import Path

import pandas as pd
import pytest
from browser import drawn, settled
from examples import catalogs

from calc import estimate
from calc.files.csv import tables as csv_tables
from views.plan import board

# One server and one browser; the largest group starts first.
ROW, HEADER = board.ROW, board.HEADER


def tanks_drawn(page):
    """How many pictures of a row's memory have a width; each has words for those who do not see
    it.
    """
    return page.evaluate(
        '[...document.querySelectorAll(\'[role="img"][aria-label*="GiB"]\')].filter(tank => '
        "tank.offsetWidth > 0).length"
    )


def at_row(page, row, across):
    """Click in a row of the board, so many pixels from its left."""
    table = page.locator('[data-testid="stDataFrame"]').first
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    page.mouse.click(box["x"] + across, box["y"] + HEADER + ROW * (row + 0.5))
    settled(page)


def cards(page):
    """The words of the answers' cards."""
    return page.locator(".st-key-answer_cards [data-testid='stHtml']").all_inner_texts()


@pytest.mark.long
def test_the_page_is_drawn_without_errors_or_overflow_on_wide_and_narrow_screens_light_and_dark(
    browser, address
):
    page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
    errors = drawn(page, address)
    for scheme, width in (("light", 1440), ("dark", 1440), ("dark", 390), ("light", 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        settled(page)
        assert page.locator("h1").first.inner_text().startswith("About $")
        assert all("GiB on each GPU" in text for text in cards(page)), (scheme, width)
        # Three answers, two types at least, and what is shown.
        assert tanks_drawn(page) >= 6, (
            scheme,
            width,
        )
        assert (
            page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            <= 0
        ), (scheme, width)
        assert page.locator('[data-testid="stException"]').count() == 0
    assert errors == []
    page.close()


@pytest.mark.long
@pytest.mark.parametrize("width", [360, 390, 600, 720])
def test_no_column_of_the_short_board_is_cut_on_a_narrow_screen(browser, address, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    drawn(page, f"{address}?v=3&goal=serve&model=qwen3-32b&people=50")
    over = page.locator("table").first.evaluate(
        "table => table.scrollWidth - table.parentElement.clientWidth"
    )
    assert over <= 0
    page.close()


@pytest.mark.long
def test_changing_the_model_changes_the_cards_and_the_csv_gives_the_same_numbers(browser, address):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    errors = drawn(page, address)
    before = cards(page)

    model = page.get_by_role("combobox", name="Model")
    model.click()
    model.fill("Llama 3.2 3B")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "document.body.innerText.includes('Fine-tune all weights of Llama 3.2 3B on ')",
        timeout=30_000,
    )
    settled(page)
    assert cards(page) != before
    assert "model=llama-3.2-3b" in page.url

    page.get_by_role("button", name="Share").first.click()
    settled(page)
    page.locator(".st-key-csv_all label").click()
    settled(page)
    with page.expect_download() as waiting:
        page.locator('[data-testid="stDownloadButton"] button', has_text="CSV").click()
    assert waiting.value.suggested_filename.endswith(f"-{date.today().isoformat()}.csv")
    content = Path(waiting.value.path()).read_bytes()
    scenarios, complaints = csv_tables.scenarios_of(csv_tables.read_csv(content), "the file")
    assert complaints == []
    written = pd.read_csv(io.BytesIO(content))
    again = estimate(scenarios, catalogs())
    assert len(written) > 10
    assert again["memory_bytes"].tolist() == pytest.approx(
        written["memory_bytes"].tolist(), rel=1e-9
    )
    assert again["usd_per_hour_on_demand"].tolist() == pytest.approx(
        written["usd_per_hour_on_demand"].tolist()
    )
    assert f"${written['usd'].iloc[0]:,.0f}" in page.locator("h1").first.inner_text()
    assert (
        f"{written['needed_bytes'].iloc[0] / 2**30:.3g} of"
        in page.locator('[data-testid="stMain"]').inner_text()
    )
    assert errors == []
    page.close()


@pytest.mark.long
def test_a_cell_of_the_board_is_looked_at_ticks_are_kept_and_the_link_opens_the_same_screen(
    browser, address
):
    page = browser.new_page(viewport={"width": 1440, "height": 2400})
    errors = drawn(page, address)
    heading, memory = (
        page.locator("h1").first.inner_text(),
        page.locator("h2", has_text="What is in the memory").first,
    )
    middle = memory.inner_text()
    page.get_by_text("All types: sort, tick, keep").click()
    settled(page)
    at_row(page, 2, 500)
    looked_at = page.locator("h1").first.inner_text()
    assert looked_at != heading
    assert memory.inner_text() != middle
    at_row(page, 3, 18)
    at_row(page, 4, 18)
    page.get_by_role("button", name="Keep ticked (2)").click()
    settled(page)
    assert page.get_by_role("link", name="Compare & bill (2)").count() == 1
    assert page.url.count("kept=") == 2
    assert errors == []
    link = page.url
    page.close()
    other = browser.new_context().new_page()
    drawn(other, link)
    assert other.locator("h1").first.inner_text() == looked_at
    other.close()


@pytest.mark.long
def test_a_csv_that_is_opened_is_kept_and_its_dialog_closes(browser, address):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    drawn(page, f"{address}compare?view=compare")
    page.get_by_role("button", name="Open a CSV").click()
    csv = {
        "name": "two.csv",
        "mimeType": "text/csv",
        "buffer": b"model,gpu\nllama-3.1-8b,h100-80gb-sxm\nqwen3-8b,h100-80gb-sxm\n",
    }
    page.locator('[data-testid="stDialog"] input[type="file"]').set_input_files(csv)
    page.get_by_role("button", name="Keep 2 answers").click()
    page.get_by_role("link", name="Compare & bill (2)").wait_for()
    settled(page)
    assert page.locator('[data-testid="stDialog"]').count() == 0
    page.close()


@pytest.mark.long
def test_no_card_is_cut_and_cards_beside_one_another_are_as_high(browser, address):
    """Offline work on published weights has the most words."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    drawn(page, f"{address}?v=3&goal=serve&model=llama-3.1-8b&tokens_total=1e9&days_most=7")
    for width in (1920, 1440, 1280, 960, 720):
        page.set_viewport_size({"width": width, "height": 900})
        settled(page)
        boxes = page.locator(".st-key-answer_cards [data-testid='stHtml'] > div").evaluate_all(
            "all => all.map(e => [e.scrollHeight - e.clientHeight, e.offsetTop, e.offsetHeight])"
        )
        assert len(boxes) >= 2
        assert [over for over, *_ in boxes if over > 0] == [], width
        rows = {}
        for _, top, height in boxes:
            rows.setdefault(top, set()).add(height)
        assert all(len(heights) == 1 for heights in rows.values()), width
    page.close()
