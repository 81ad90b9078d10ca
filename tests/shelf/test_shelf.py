"""The shelf: in a file and in a real PostgreSQL what is saved comes back, and of those who save at
once nobody loses anything.
"""

import os
import pwd
import shutil
import sqlite3
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from browser import missing
from examples import recorded
from pages import opened, title

from shelf import stores
from shelf.plans import (
    MOST_SHOWN,
    OFF,
    ShelfBusyError,
    ShelfError,
    newest,
    newest_openable,
    save,
    take_off,
    taken_off,
    versions,
)
from shelf.states import history, newest_states, set_state

MARK = "O'Brien; DROP TABLE headroom_plans; 模型 <b> :name %s ?"
PLAN = {
    "saved_by": "Ana",
    "answer": "about $245 in 4.5 h",
    "link": "v=2&model=gpt2",
    "usd": 244.7,
    "usd_per_hour": 55.04,
}


DEBIAN = sorted(
    Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name)
)


def program(name):
    """Where a program of PostgreSQL is; without one the test is skipped, in continuous integration
    it fails.
    """
    path = shutil.which(
        name, path=os.pathsep.join([*map(str, reversed(DEBIAN)), os.environ.get("PATH", "")])
    )
    if not path:
        missing("PostgreSQL is not installed", "apt-get install postgresql")
    return path


@contextmanager
def server():
    """The address of a PostgreSQL server on a socket, for as long as it runs. Root hands it to the
    user that Debian makes for it.
    """
    initdb, ctl = program("initdb"), program("pg_ctl")
    account = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    if account and "postgres" not in {entry.pw_name for entry in pwd.getpwall()}:
        missing("PostgreSQL does not run as root", "make a user postgres")
    with tempfile.TemporaryDirectory(prefix="headroom-") as folder:
        if account:
            shutil.chown(folder, **account)
        data = f"{folder}/data"
        run = {"check": True, "stdout": subprocess.DEVNULL, "cwd": folder, **account}
        subprocess.run(
            [initdb, "-D", data, "-U", "headroom", "-A", "trust", "-E", "UTF8", "--no-sync"], **run
        )
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        subprocess.run(
            [ctl, "-D", data, "-l", f"{folder}/log", "-o", options, "-w", "start"], **run
        )
        try:
            yield f"postgresql+psycopg://headroom@/postgres?host={folder}"
        finally:
            subprocess.run([ctl, "-D", data, "-m", "immediate", "-w", "stop"], **run)


@pytest.fixture(scope="module")
def database():
    """An engine on a real PostgreSQL."""
    sqlalchemy = pytest.importorskip(
        "sqlalchemy", reason="SQLAlchemy is not installed: requirements/shelf.txt"
    )
    with server() as address:
        engine = sqlalchemy.create_engine(address, pool_size=8)
        yield engine
        engine.dispose()


@pytest.fixture(params=["file", "PostgreSQL"])
def run(request, tmp_path):
    """An empty shelf of each kind."""
    if request.param == "file":
        return stores.in_file(tmp_path / "shelf.sqlite3")
    run = stores.in_database(request.getfixturevalue("database"))
    for table in ("headroom_plans", "headroom_states"):
        run(f"DROP TABLE IF EXISTS {table}", {})
    return run


def test_what_is_saved_comes_back_letter_for_letter(run):
    saved = save(run, MARK, **PLAN | {"saved_by": MARK[:40], "link": "v=2&kept=" + "x%20" * 9000})
    assert newest(run) == [saved]
    assert (saved.name, saved.saved_by, saved.usd) == (MARK, MARK[:40], 244.7)
    assert len(saved.link) > 36_000


def test_the_page_keeps_plans_in_the_database_that_is_named(database, monkeypatch):
    monkeypatch.setenv("HEADROOM_SHELF", database.url.render_as_string(hide_password=False))
    stores.in_database(database)("DROP TABLE IF EXISTS headroom_plans", {})
    app = opened("shelf", model="gpt2")
    app.text_input(key="shelf_who").set_value("Ana")
    next(button for button in app.button if button.label == "Put on the shelf").click().run()
    assert title(app) == "1 plan on the shelf"
    assert [button.saved_by for button in newest(stores.in_database(database))] == ["Ana"]


def test_versions_names_and_prices_come_back_as_they_were_saved(run):
    first = save(run, "tune", **PLAN)
    save(run, "serve", **PLAN)
    second = save(run, "tune", **PLAN | {"saved_by": "Ben", "usd": 300.0})
    assert [(plan.name, plan.saved_by, plan.versions) for plan in newest(run)] == [
        ("tune", "Ben", 2),
        ("serve", "Ana", 1),
    ]
    assert [plan.id for plan in versions(run, "tune")] == [second.id, first.id]
    assert [plan.usd for plan in versions(run, "tune")] == [300.0, 244.7]
    save(run, "mine", **PLAN | {"usd": None, "usd_per_hour": None})
    assert (newest(run)[0].usd, newest(run)[0].usd_per_hour) == (None, None)


def test_a_plan_that_is_taken_off_keeps_its_versions_and_is_put_back_by_saving_it(run):
    save(run, "tune", **PLAN)
    save(run, "serve", **PLAN)
    with pytest.raises(ShelfError, match="needs a name of who saves it"):
        take_off(run, "tune", " ")
    gone = take_off(run, "tune", "Ben")
    assert [plan.name for plan in newest(run)] == ["serve"]
    assert taken_off(run) == [gone._replace(versions=2)]
    assert [(plan.saved_by, plan.link) for plan in versions(run, "tune")] == [
        ("Ben", OFF),
        ("Ana", PLAN["link"]),
    ]
    save(run, "tune", **PLAN)
    assert ([plan.name for plan in newest(run)], taken_off(run)) == (["tune", "serve"], [])


def test_a_plan_that_is_taken_off_many_times_can_still_be_opened(run):
    saved = save(run, "tune", **PLAN)
    save(run, "serve", **PLAN)
    for _ in range(MOST_SHOWN):
        take_off(run, "tune", "Ben")
    take_off(run, "never saved", "Ben")
    assert {plan.name for plan in taken_off(run)} == {"tune", "never saved"}
    assert newest_openable(run) == {"tune": saved}


def test_a_locked_file_is_waited_for_once(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "WAIT_SECONDS", 0.05)
    path = tmp_path / "shelf.sqlite3"
    run, calls = stores.in_file(path), []
    save(run, "tune", **PLAN)

    def counted(statement, values):
        calls.append(statement)
        return run(statement, values)

    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for ask in (newest, taken_off, lambda shelf: save(shelf, "serve", **PLAN)):
            calls.clear()
            with pytest.raises(ShelfBusyError, match="locked by another program"):
                ask(counted)
            assert len(calls) == 1
    assert [plan.name for plan in newest(run)] == ["tune"]


def test_eight_who_save_at_once_on_a_new_shelf_lose_nothing(run):
    with ThreadPoolExecutor(8) as people:
        saved = list(
            people.map(lambda number: save(run, "tune", **PLAN | {"usd": float(number)}), range(48))
        )
    stand = versions(run, "tune")
    assert {plan.id for plan in stand} == {plan.id for plan in saved}
    assert {plan.usd for plan in stand} == {float(number) for number in range(48)}
    assert newest(run)[0].versions == 48


@pytest.mark.long
def test_no_more_are_shown_than_a_page_holds_and_none_is_lost(run):
    for number in range(MOST_SHOWN + 3):
        save(run, f"plan {number}", **PLAN)
    shown = newest(run)
    assert [plan.name for plan in shown] == [
        f"plan {number}" for number in range(MOST_SHOWN + 2, 2, -1)
    ]
    assert len(versions(run, "plan 0")) == 1


REFUSED = recorded("cases/shelf.json")["refused"]


@pytest.mark.parametrize(
    ("wrong", "sentence"), [*REFUSED, ({"link": "x" * 60_001}, "The link has 60,001 characters")]
)
def test_what_cannot_be_kept_is_refused_in_one_sentence(wrong, sentence, tmp_path):
    run = stores.in_file(tmp_path / "shelf.sqlite3")
    with pytest.raises(ShelfError, match=sentence):
        save(run, **{"name": "mine", **PLAN, **wrong})
    assert newest(run) == []


def test_what_cannot_be_reached_is_one_sentence_without_its_password(tmp_path):
    with pytest.raises(ShelfError, match="a link holds the whole plan without it"):
        save(stores.in_file(tmp_path / "no" / "folder" / "shelf.sqlite3"), "mine", **PLAN)
    run = stores.in_file(tmp_path / "shelf.sqlite3")
    assert save(run, "  two\nlines\x00\u202e ", **PLAN).name == "two lines"
    sqlalchemy = pytest.importorskip(
        "sqlalchemy", reason="SQLAlchemy is not installed: requirements/shelf.txt"
    )
    run = stores.in_database(
        sqlalchemy.create_engine(f"postgresql+psycopg://ana:secret@/plans?host={tmp_path}")
    )
    with pytest.raises(ShelfError, match="a link holds the whole plan without it") as raised:
        newest(run)
    assert "secret" not in str(raised.value)
    assert "ana" not in str(raised.value)


def proposed(run, name="tune", **texts):
    return set_state(run, name, "proposed", "Ana", "v1", None, **texts)


def test_a_state_comes_back_with_its_history(run):
    assert newest_states(run) == {}
    first = proposed(run, team="nlp")
    second = set_state(
        run, "tune", "approved", "Bo", "v1", first, team="nlp", budget="nlp-q4", note=MARK
    )
    assert newest_states(run) == {"tune": second}
    assert history(run, "tune") == [second, first]
    assert (second.set_by, second.budget, second.note) == ("Bo", "nlp-q4", MARK)
    proposed(run, "serve")
    assert set(newest_states(run)) == {"tune", "serve"}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (["approved"], "not proposed yet"),
        (["proposed", "running"], "it can become approved or rejected, not running"),
        (["proposed", "rejected", "approved"], "it can become proposed"),
        (["proposed", "proposed"], "not proposed"),
        (["no such state"], "not no such state"),
    ],
)
def test_a_state_follows_only_what_it_may_follow(run, path, words):
    state = None
    for step in path[:-1]:
        state = set_state(run, "tune", step, "Ana", "v1", state)
    with pytest.raises(ShelfError, match=words):
        set_state(run, "tune", path[-1], "Ana", "v1", state)


def test_a_whole_life_and_a_name_that_is_missing_or_too_long(run):
    state = None
    for step in ("proposed", "approved", "running", "done", "proposed"):
        state = set_state(run, "tune", step, "Ana", "v1", state)
    assert [past.state for past in history(run, "tune")][::-1][:2] == ["proposed", "approved"]
    for name, words in ((" ", "needs the name"), ("x" * 99, "at most 40")):
        with pytest.raises(ShelfError, match=words):
            set_state(run, "tune", "approved", name, "v1", state)
    with pytest.raises(ShelfError, match="The budget has 99 characters"):
        set_state(run, "tune", "approved", "Ana", "v1", state, budget="b" * 99)


def test_of_sixteen_who_decide_at_once_one_decides_and_the_others_are_told(run):
    first = proposed(run)

    def decide(number):
        state = "approved" if number % 2 else "rejected"
        try:
            return set_state(run, "tune", state, f"person {number}", "v1", first)
        except ShelfError as error:
            return str(error)

    with ThreadPoolExecutor(8) as people:
        outcomes = list(people.map(decide, range(16)))
    (decided,) = [outcome for outcome in outcomes if not isinstance(outcome, str)]
    others = [outcome for outcome in outcomes if isinstance(outcome, str)]
    assert newest_states(run) == {"tune": decided}
    assert len(history(run, "tune")) == 2
    told = (
        f"{decided.set_by} has set tune to {decided.state} meanwhile; look at it, and decide again."
    )
    assert set(others) == {told}


def test_two_who_propose_at_once_make_one_proposal(run):
    proposed(run)
    with pytest.raises(ShelfError, match="Ana has set tune to proposed meanwhile"):
        proposed(run)
