"""Changes made while the server is away: the browser sends its fields to a new one, which knows the
link alone.
"""

import pytest
from pages import address, opened
from streamlit.runtime.state import SafeSessionState, SessionState


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("kind", "key", "value", "name", "written"),
    [
        ("number_input", "users", 12, "users", "12"),
        ("number_input", "token_ms", 40.0, "token_seconds", "0.04"),
        ("selectbox", "load", "people", "people", "20"),
        ("segmented_control", "work", "mine", "have", "8 x h100-80gb-sxm"),
    ],
)
def test_a_change_made_while_the_server_was_away_is_kept(kind, key, value, name, written):
    app = opened(goal="serve", model="llama-3.1-8b", users="8")
    getattr(app, kind)(key=key).set_value(value)
    sent = app._tree.get_widget_states()
    # A new server knows the link and what the browser sends.
    app._session_state = SafeSessionState(SessionState(), lambda: None)
    assert address(app._run(sent))[name] == [written]
