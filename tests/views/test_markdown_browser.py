"""Foreign words on a real page: none of them becomes a link, a picture or an element."""

import textwrap

import pytest
from browser import MAIN, PATIENCE_MS, settled

from benchmarks.server import ROOT, Server

IGNORABLE = (
    *("\u00ad", "\u034f", "\u061c", "\u115f", "\u17b4", "\u180e", "\u200b", "\u200d", "\u200e"),
    *("\u202e", "\u2060", "\u2061", "\u2064", "\u2066", "\u3164", "\ufe0f", "\ufeff", "\uffa0"),
    *("\U000e0001", "\U000e0020", "\U000e0100"),
)
ADDRESSES = (
    *(
        "https://evil.example",
        "HTTPS://evil.example",
        "http://evil.example/a?b=c",
        "//evil.example",
    ),
    *("www.evil.example", "WWW.evil.example", "(www.evil.example)", "me@evil.example"),
    *(
        "mailto:me@evil.example",
        "xmpp:me@evil.example",
        "ftp://evil.example",
        "*https://evil.example*",
    ),
    *("https&colon;//evil.example", "https&#58;//evil.example", "https&#x3a;&#47;/evil.example"),
    *("www&period;evil.example", "me&commat;evil.example", "http\\://evil.example"),
    *("[a](https://evil.example)", "<https://evil.example>", "![a](https://evil.example/a.png)"),
    *("<a href=https://evil.example>a</a>", "[a]: https://evil.example", "`https://evil.example`"),
)
INSIDE = "https://evil.example www.evil.example me@evil.example"


def hostile():
    """Addresses as they are, and with a character without a picture at every place."""
    marked = [
        INSIDE[:place] + mark + INSIDE[place:] for mark in IGNORABLE for place in range(len(INSIDE))
    ]
    return [*ADDRESSES, *marked]


@pytest.mark.long
def test_no_foreign_word_becomes_a_link(browser, tmp_path):
    script = tmp_path / "page.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import sys
            sys.path.insert(0, {str(ROOT)!r})
            import streamlit as st
            from views.shared.markdown import plain
            st.title("Words", anchor=False)
            st.warning(plain("https://evil.example"))
            st.markdown("\\n\\n".join(map(plain, {hostile()!r})))
            st.markdown("[ours](https://docs.example)")
            st.caption("end")
            """
        ),
        encoding="utf-8",
    )
    with Server(str(script)) as server:
        page = browser.new_page()
        page.goto(f"http://{server.address}/")
        page.wait_for_selector(f"{MAIN} h1", timeout=PATIENCE_MS)
        page.get_by_text("end", exact=True).wait_for()
        settled(page)
        links = page.locator(f"{MAIN} a[href]").evaluate_all("all => all.map(one => one.href)")
        assert [link for link in links if "evil" in link] == []
        assert links == ["https://docs.example/"]
        assert page.locator(f"{MAIN} img").count() == 0
        assert "evil.example" in page.locator(MAIN).inner_text()
        page.close()
