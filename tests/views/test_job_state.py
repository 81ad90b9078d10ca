"""The job in the session: auto until touched, back to auto with one click, one file knows its
keys.
"""

import ast
from pathlib import Path

import pytest
from pages import (
    address,
    by_hand,
    job_line,
    opened,
    page_text,
    run,
    with_fields,
    with_share,
)
from streamlit.testing.v1 import AppTest

from calc.job.fields import BY_HAND, CHOSEN, JOB
from calc.scenarios.inputs import inputs_by_name
from views.plan import heading
from views.session import job_state
from views.sidebar import sidebar

VIEWS = Path(job_state.__file__).resolve().parents[1]
OWNER = Path(job_state.__file__).resolve()


def test_no_other_view_spells_where_the_session_holds_a_choice():
    for path in set(VIEWS.rglob("*.py")) - {OWNER}:
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        slices = [
            node.slice
            for node in nodes
            if isinstance(node, ast.Subscript) and _is_session(node.value)
        ]
        keys = [node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "key"]
        spelled = {node.value for node in (*slices, *keys) if isinstance(node, ast.Constant)}
        assert not set(vars(job_state.KEYS)) & spelled, path


def _is_session(node):
    return getattr(node, "attr", getattr(node, "id", "")) in ("state", "session_state")


def test_every_scenario_column_is_of_the_job_or_may_be_set_by_hand():
    settled = {"scenario", "work", "tuning", "region"}
    assert {*JOB, *BY_HAND} >= {
        name for name in inputs_by_name() if name not in job_state.ASSUMED
    } - settled
    assert set(CHOSEN) <= set(BY_HAND)


def test_a_choice_that_no_job_has_is_refused():
    with pytest.raises(AttributeError):
        job_state.choose(wrok="training")


def test_a_choice_is_auto_until_it_is_touched_and_again_when_it_is_emptied_or_sent_back():
    """The four usual come first; several are compared; the group stays open while they change."""
    app = with_fields(opened())
    chosen = app.pills(key="gpus").label
    assert "auto: " in chosen
    assert app.pills(key="gpus").options == ["1", "2", "4", "8", "more…"]
    run(app.pills(key="gpus").set_value(["more"]))
    assert (app.pills(key="gpus").options[-1], app.session_state["gpus"]) == ("256", [])
    for value in ([8], [8, 16], [], [8]):
        run(app.pills(key="gpus").set_value(value))
        assert ("auto" in app.pills(key="gpus").label) == (not value)
        assert address(app).get("gpus", []) == [str(count) for count in value]
        assert app.session_state["gpus"] == value
        group = next(pane for pane in app.expander if pane.label.startswith("Set by hand"))
        assert len(group.children) > 10
    run(app.button(key="auto_gpus").click())
    assert app.pills(key="gpus").label == chosen
    assert "gpus" not in address(app)
    assert app.session_state["by_hand"] is True


@pytest.mark.long
def test_only_what_was_set_is_held_and_it_goes_back_at_once_alone_or_with_the_example():
    by_hand = {"gpus": "8", "precision": "bf16", "batch": "2", "attention": "eager"}
    app = opened(model="qwen2.5-7b", **by_hand)
    assert app.session_state["said_by_browser"] == []  # a first visit takes nothing over
    assert {name for name in BY_HAND if name in app.session_state} == set(by_hand)
    assert app.session_state["batch"] == [2]
    assert any(caption.value.startswith("4 set by hand: ") for caption in app.caption)
    with_fields(app)
    run(app.button(key="all_to_auto").click())
    assert not set(by_hand) & set(address(app))
    run(app.pills(key="gpus").set_value([8]))
    run(with_share(app).button(key="reset").click())
    assert address(app)["model"] == ["llama-3.1-8b"]
    assert "gpus" not in address(app)


@pytest.mark.long
def test_a_precision_is_the_usual_one_of_the_work_or_set_by_hand_waits_where_it_cannot_be():
    app = with_fields(opened())
    for key, value, usual in (
        ("method", "full", "bf16 mixed"),
        ("method", "qlora", "NF4"),
        ("method", "lora", "bf16"),
        ("work", "serve", "fp8"),
        ("work", "tune", "bf16"),
        ("method", "full", "bf16 mixed"),
    ):
        chosen = app.segmented_control if key == "work" else app.selectbox
        run(chosen(key=key).set_value(value))
        chosen = app.pills(key="precision").label.split("auto: ")[1].rstrip("]")
        assert chosen.startswith("NF4") if usual == "NF4" else chosen == usual, value
    run(app.pills(key="precision").set_value(["bf16"]))
    for key, value, possible in (
        ("work", "serve", 1),
        ("work", "tune", 1),
        ("method", "qlora", 0),
        ("method", "full", 1),
    ):
        chosen = app.segmented_control if key == "work" else app.selectbox
        run(chosen(key=key).set_value(value))
        assert app.session_state["precision"] == ["bf16"] * possible, value
        assert possible or "bf16 is not possible" in " ".join(info.value for info in app.info)


@pytest.mark.bench
def test_what_the_work_does_not_read_is_kept_and_not_asked_and_no_deadline_is_an_empty_field():
    app = opened(optimizer="lion", kv_precision="fp8", days_most="")
    assert app.number_input(key="days_most").value is None
    assert address(app)["days_most"] == [""]
    assert address(app)["optimizer"] == ["lion"]
    run(app.segmented_control(key="work").set_value("serve"))
    assert (address(app)["optimizer"], address(app)["kv_precision"]) == (["lion"], ["fp8"])


def adopted(scenario):
    """What the session holds after a scenario became the plan of the first visit."""

    def script(scenario):
        from views.session import address, job_state
        from views.session import catalogs as session_catalogs

        address.read_link(session_catalogs.base_catalogs())
        job_state.adopt(scenario, "spot", session_catalogs.catalogs())

    app = AppTest.from_function(script, default_timeout=60, kwargs={"scenario": scenario}).run()
    assert not app.exception
    return {
        name: by_hand(app, name) if name in BY_HAND else app.session_state[name]
        for name in (*BY_HAND, *JOB)
    }


def test_an_adopted_scenario_is_held_as_the_widgets_hold_it():
    row = {
        "model": "gpt2",
        "instance": "p5.48xlarge",
        "precision": "bf16",
        "gpus": 4.0,
        "batch": 2.0,
        "gpu": "h100-80gb-sxm",
    }
    row |= {
        "sequence_tokens": 1024.0,
        "decoder_tokens": 1024.0,
        "train_tokens": 5e9,
        "max_sequences": float("nan"),
    }
    state = adopted(row)
    assert (state["precision"], state["gpus"], state["instance"]) == (
        ["bf16"],
        [4],
        ["p5.48xlarge"],
    )
    assert (state["decoder_tokens"], state["max_sequences"], state["train_tokens"]) == (
        None,
        None,
        5e9,
    )
    assert (state["markets"], state["sequence_tokens"], state["gpu"]) == (["spot"], 1024, None)
    for name, column in {**BY_HAND, **JOB}.items():
        if column.kind in job_state.HELD_AS:
            values = state[name] if isinstance(state[name], list) else [state[name]]
            assert {type(value) for value in values if value is not None} <= {
                job_state.HELD_AS[column.kind]
            }, name
    # a run of the job's length leaves the length to the job
    assert adopted({"model": "gpt2", "train_tokens": 150_000_000.0})["train_tokens"] is None


def test_a_job_counted_in_images_shows_the_one_that_each_request_has():
    """The field said none beside a sentence of one in each."""
    counted = opened(model="gemma-3-4b", goal="serve", tokens_total="1000000 images")
    assert counted.number_input(key="images_per_sequence").proto.placeholder == "auto: 1"
    plain_text = opened(model="gemma-3-4b", goal="serve", tokens_total="1000000")
    assert plain_text.number_input(key="images_per_sequence").proto.placeholder == "none"


def test_images_are_asked_for_where_a_model_takes_them():
    """The prompt grows by them; another model lets go of what the fields held."""
    app = opened(model="gemma-3-4b", goal="serve", images_per_sequence="2")
    assert app.number_input(key="images_per_sequence").value == 2
    assert app.text_input(key="image_tokens_written").placeholder == "auto: 256"
    app = run(app.number_input(key="images_per_sequence").set_value(8))
    assert "(2,048 in, 512 out), 8 images in each" in job_line(app)
    app = run(app.selectbox(key="model").select("llama-3.1-8b"))
    assert "images_per_sequence" not in {field.key for field in app.number_input}
    assert "images_per_sequence" not in app.query_params
    assert "takes no images or sounds" in " ".join(
        text.value for text in (*app.info, *app.toast, *app.warning)
    )


@pytest.mark.bench
@pytest.mark.long
def test_people_and_a_context_stand_for_requests_and_their_lengths():
    """A share of the people asks at once; an eighth of a context is the answer until either is
    changed; other terms keep theirs.
    """
    app = opened(
        goal="serve", model="llama-3.1-8b", people="200", share_active="0.25", context_tokens="4096"
    )
    assert "to 200 people, one in four active: 50 requests in flight" in job_line(app)
    assert "50 requests in flight" in [caption.value for caption in app.caption]
    assert "4,096 tokens each (3,584 in, 512 out)" in job_line(app)
    assert {"people", "share_active", "context_tokens"} <= set(address(app))
    assert app.text_input(key="request_tokens_written").value == "4,096"
    assert app.slider(key="split").value == 3584
    assert app.slider(key="split").label == "Prompt 3,584 · answer 512"
    run(app.text_input(key="request_tokens_written").set_value("8192"))
    assert [
        address(app)[name] for name in ("context_tokens", "prompt_tokens", "answer_tokens")
    ] == [[""], ["7680"], ["512"]]
    run(app.slider(key="split").set_value(4096))
    assert (address(app)["prompt_tokens"], address(app)["answer_tokens"]) == (["4096"], ["4096"])
    run(app.number_input(key="active_percent").set_value(50))
    assert address(app)["share_active"] == ["0.5"]
    assert "100 requests in flight" in [caption.value for caption in app.caption]
    for load, fields in (
        ("users", {"users": "8"}),
        ("requests_per_second", {"requests_per_second": "1"}),
        ("people", {"people": "200"}),
    ):
        run(app.selectbox(key="load").set_value(load))
        loads = {
            name: address(app)[name] for name in ("people", "requests_per_second", "tokens_total")
        }
        assert {name for name, values in loads.items() if values != [""]} == {*fields} - {"users"}
        assert all(address(app)[name] == [value] for name, value in fields.items())
    # One token in and one out: nothing to split.
    run(app.text_input(key="request_tokens_written").set_value("2"))
    assert "split" not in {slider.key for slider in app.slider}


@pytest.mark.long
def test_a_service_is_offered_no_capacity_block_and_a_run_keeps_its_own():
    app = opened(model="llama-3.1-8b")
    app.session_state["where"] = True
    run(app)
    assert app.pills(key="markets_paid").value == ["on-demand", "capacity-block"]
    run(app.segmented_control(key="work").set_value("serve"))
    assert "Capacity block" not in app.pills(key="markets_paid").options
    run(app.pills(key="markets_paid").set_value(["on-demand", "spot"]))
    assert address(app)["markets"] == ["on-demand", "spot", "capacity-block"]
    run(app.segmented_control(key="work").set_value("tune"))
    assert app.pills(key="markets_paid").value == ["on-demand", "spot", "capacity-block"]


@pytest.mark.long
def test_machines_that_are_there_come_back_when_the_page_asks_for_them_again():
    """A link with machines opens on them; renting leaves them out; several kinds are one field of
    the link.
    """
    app = opened(have="8 x a100-80gb-sxm + 2 x p5.48xlarge")
    assert app.segmented_control(key="work").value == "mine"
    assert [app.selectbox(key=f"kind_{place}").value for place in range(2)] == [
        "a100-80gb-sxm",
        "p5.48xlarge",
    ]
    assert "Where and how you pay" not in page_text(app)
    run(app.number_input(key="count_0").set_value(0))
    assert address(app)["have"] == ["2 x p5.48xlarge"]
    run(app.button(key="add_kind").click())
    run(app.selectbox(key="kind_1").select("l40s"))
    assert address(app)["have"] == ["2 x p5.48xlarge + 1 x l40s"]
    run(app.segmented_control(key="goal").set_value("serve"))
    run(app.segmented_control(key="work").set_value("tune"))
    assert (address(app)["have"], address(app)["goal"]) == ([""], ["tune"])
    run(app.segmented_control(key="work").set_value("mine"))
    assert address(app)["have"] == ["2 x p5.48xlarge + 1 x l40s"]
    wrong = opened(have="8 x abacus")
    assert wrong.selectbox(key="kind_0").value is None
    run(wrong.selectbox(key="kind_0").select("l4"))
    assert address(wrong)["have"] == ["1 x l4"]


@pytest.mark.bench
@pytest.mark.long
def test_weights_are_called_published_where_somebody_known_publishes_them():
    for model, labels in (
        ("qwen3-32b", ["8 bits, published", "16 bits", "4 bits"]),
        ("gpt-oss-20b", ["8 bits", "16 bits", "4 bits, published"]),
        ("gpt2", ["8 bits", "16 bits", "4 bits"]),
    ):
        app = opened(goal="serve", model=model)
        assert app.selectbox(key="fewest_bits").options == labels, model
        assert app.selectbox(key="fewest_bits").value == "published"
        run(app.selectbox(key="fewest_bits").set_value("4" if model != "gpt-oss-20b" else "8"))
        assert address(app)["fewest_bits"] == ["4" if model != "gpt-oss-20b" else "8"]


@pytest.mark.long
def test_what_cannot_be_chosen_is_not_asked():
    """A format set by hand leaves no weights to choose, an encoder no answer and no time of a
    token, what is there no price.
    """
    shown = {
        name: {
            widget.key
            for kind in ("selectbox", "number_input", "text_input", "slider")
            for widget in getattr(opened(goal="serve", **query), kind)
        }
        for name, query in {
            "by hand": {"precision": "bf16"},
            "encoder": {"model": "bert-base-uncased"},
            "there": {"have": "8 x l4"},
        }.items()
    }
    assert "fewest_bits" not in shown["by hand"]
    assert "fewest_bits" in shown["encoder"]
    assert not {"token_ms", "split"} & shown["encoder"]
    assert {"first_token_seconds", "request_tokens_written"} <= shown["encoder"]
    assert not {"usd_most", "usd_per_hour_most", "instances_most", "spare"} & shown["there"]
    assert {"usd_most", "usd_per_hour_most", "instances_most", "spare"} <= shown["encoder"]


@pytest.mark.long
def test_a_discount_and_milliseconds_are_fields_of_the_job_in_other_units():
    app = opened(goal="serve", token_seconds="0.05", paid_ratio="0.88")
    app.session_state["where"] = True
    run(app)
    assert (
        app.number_input(key="token_ms").value,
        app.number_input(key="discount_percent").value,
    ) == (50, 12)
    run(app.number_input(key="token_ms").set_value(40))
    run(app.number_input(key="discount_percent").set_value(None))
    assert address(app)["token_seconds"] == ["0.04"]
    assert "paid_ratio" not in address(app)
    run(app.number_input(key="token_ms").set_value(None))
    assert address(app)["token_seconds"] == [""]


def test_on_a_phone_the_job_is_in_a_group_of_the_page(monkeypatch):
    for module in (sidebar, heading):
        monkeypatch.setattr(module, "is_phone", lambda: True)
    app = opened()
    assert len(app.sidebar.children) == 0
    run(app.button(key="edit_job").click())
    run(app.segmented_control(key="work").set_value("serve"))
    assert app.selectbox(key="load").value == "users"


@pytest.mark.long
def test_a_cleared_field_keeps_its_value_and_a_cleared_limit_is_none():
    app = opened(days_most="3", examples="20000")
    run(app.number_input(key="days_most").set_value(None))
    run(app.text_input(key="examples_written").set_value(""))
    assert (address(app)["days_most"], address(app)["examples"]) == ([""], ["20000"])


@pytest.mark.parametrize("version", ["2", "3"])
def test_users_of_an_earlier_link_are_requests_at_once(version):
    app = opened(v=version, goal="serve", users="20", model="llama-3.1-8b")
    assert app.selectbox(key="load").value == "users"
    assert app.number_input(key="users").value == 20
    assert "20 requests in flight" in job_line(app)
