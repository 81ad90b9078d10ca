"""The questions of the sidebar, apart from a page: what their callbacks choose."""

from views.session import job_state, questions


def test_the_slider_of_a_service_before_leaves_documents_as_long_as_they_are(monkeypatch):
    """Its late report comes after the job has become one without answers, which has no slider."""
    chosen = []
    monkeypatch.setattr(job_state, "choose", lambda **cells: chosen.append(cells))
    monkeypatch.setattr(questions, "lengths", lambda _: (500, 0))
    questions.take_split(98_976, None)
    assert chosen == []
    monkeypatch.setattr(questions, "lengths", lambda _: (500, 12))
    questions.take_split(98_976, None)
    assert chosen[0]["prompt_tokens"] == 511
