"""The app as a new browser sees it, without a browser: for the tests of pages, sidebar and
session.
"""

import re
from functools import cache
from html import unescape
from pathlib import Path

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from calc.files.csv.tables import dated_csv
from calc.files.link.link import VIEWS
from calc.job.fields import COMPARED
from calc.say.job import job_sentence
from calc.search.board import with_answers
from views.plan import choices
from views.session.tabs import TABS, key_of, page_of

# Pages without tabs, and tabs.
PAGES = ("plan", *VIEWS, "bring")
DASHBOARD = str(Path(__file__).resolve().parent.parent / "dashboard.py")
JOB = re.compile("(Fine-tune|Train|Serve|Generate|Run) .*[.]$")
SPOKEN = (
    "title",
    "header",
    "subheader",
    "markdown",
    "caption",
    "info",
    "warning",
    "error",
    "success",
)
FOLDERS = {
    "plan": "plan",
    "bring": "your_files",
    "compare": "compare_and_bill",
    "understand": "understand",
    "catalog": "catalog",
}


choices.others_ask = lambda: True  # plans of Compare choices wait, unless a test asks for them
# Of all that is installed, anew for each app.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


def opened(page="", **query):
    """The app under an address, on a page or a tab of one; a double underscore stands for a dot."""
    app = AppTest.from_file(DASHBOARD, default_timeout=60)
    for name, value in query.items():
        app.query_params[name.replace("__", ".")] = value
    if page not in ("", "plan"):
        # An address leads there at once: no other page is drawn before.
        app._page_hash = calc_hash(_chosen(app, page))
    return run(app)


def turned(app, page):
    """The app on another page, or on a tab of one."""
    return run(app.switch_page(f"views/{FOLDERS[_chosen(app, page)]}/page.py"))


def _chosen(app, page):
    """The page, or the page of a tab, which is chosen there."""
    folder = page if page in FOLDERS else page_of(page)
    if folder != page or page in TABS:
        app.session_state[key_of(folder)] = page
    return folder


def address(app):
    """The query of the page, every name with its list of values."""
    return {
        name: value if isinstance(value, list) else [value]
        for name, value in app.query_params.items()
    }


def by_hand(app, name):
    """What the session holds of a column that may be set by hand; empty where nothing ever was."""
    if name in app.session_state:
        return app.session_state[name]
    return [] if name in COMPARED else None


def with_fields(app):
    """The group of what is set by hand open, all of its fields drawn."""
    app.session_state["by_hand"] = True
    app.session_state["more_by_hand"] = True
    return run(app)


def pasted(app, text):
    """The app after a text was put into the one field."""
    return run(app.text_area(key="pasted").set_value(text))


def with_share(app):
    """The app with Share open."""
    app.session_state["share"] = True
    return run(app)


def all_columns(options, catalogs, day):
    """The CSV of Share with all columns."""
    rows = with_answers(options.answers, options.board, options.rows[0])
    return dated_csv(rows, catalogs, day, job_sentence(options.job, catalogs))


def run(element):
    """The app run once more, after what was done to an element of it; without an error."""
    app = element.run()
    assert not app.exception
    return app


def texts(app):
    """Return the sentences of the page, with plain spaces and dollar signs without backslashes."""
    return [
        loose(element.value.replace("\\", "")) for kind in SPOKEN for element in getattr(app, kind)
    ] + html_texts(app)


def html_texts(app):
    """What the page says in HTML: cards, the short board, names of components."""
    return [
        " ".join(unescape(re.sub(r"<[^>]+>", " ", element.proto.body)).split())
        for element in app.get("html")
    ]


def cards(app):
    """The words of the answers' cards, in their order."""
    return [
        text
        for text in html_texts(app)
        if " GiB on each GPU: " in text or "memory not known" in text
    ]


def page_text(app):
    """The same in one text."""
    return "\n".join(texts(app))


def job_line(app):
    """The job in words under the heading of the Plan page."""
    return next(text for text in texts(app) if JOB.match(text))


def title(app):
    """The heading, without what keeps its words together."""
    return loose(app.title[0].value)


def loose(text):
    """Return a text with plain spaces where no line may break."""
    return text.replace("\u00a0", " ").replace("\u2060", "")
