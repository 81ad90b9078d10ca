"""What every page says: words of the field, none of the house's own; numbers of hours and shares as they are written here."""

import re

import pytest
from pages import opened

PAGES = ("plan", "compare", "bill", "instances", "models_and_prices", "method", "accuracy")
COMMON = "model~llama-3.1-8b~gpus~8~sharding~zero3~instance~p5.48xlarge~train_tokens~150000000"
STATES = {
    "first visit": {},
    "serving": {"goal": "serve", "model": "qwen2.5-32b", "users": "20"},
    "on spot, kept": {"markets": "spot", "kept": [f"a~market~spot~{COMMON}", f"b~market~on-demand~{COMMON}~optimizer~adamw-8bit"]},
    "nothing fits": {"goal": "train", "model": "deepseek-v3", "instance": "g6.xlarge"},
    "cannot serve": {"goal": "serve", "model": "bert-base-uncased", "implementation": "vllm"},
    "an encoder": {"goal": "serve", "model": "bert-base-uncased"},
}
BANNED = re.compile(r"\bways\b|\bholds?\b|\btold\b|\bsurely\b|arranged so|cannot be estimated", re.IGNORECASE)
SPOKEN = ("title", "header", "subheader", "markdown", "caption", "info", "warning", "error", "success")
LABELLED = ("button", "expander", "metric", "selectbox", "multiselect", "number_input", "text_input", "toggle", "tabs")


def sentences(app):
    """All that a page says: texts, labels, helps, cells of tables."""
    for kind in SPOKEN:
        yield from (element.value for element in getattr(app, kind))
    for kind in LABELLED:
        for element in getattr(app, kind):
            yield element.label
            yield getattr(element, "help", "") or ""
    for frame in (*app.table, *app.dataframe):
        yield from map(str, frame.value.columns)
    for frame in app.table:
        yield from map(str, frame.value.to_numpy().ravel())


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("state", STATES)
def test_no_page_uses_words_of_the_house(page, state):
    app = opened("" if page == "plan" else page, **STATES[state])
    assert [text[:200] for text in sentences(app) if BANNED.search(text)] == []
