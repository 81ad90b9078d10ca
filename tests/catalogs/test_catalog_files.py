"""What a catalog's file may be: read strictly, checked once, kept; a sentence with its cure for
what is wrong, under the app too.
"""

import math
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
import yaml
from pages import cards, opened

from calc.catalogs import checked_documents
from calc.catalogs.caches import last_few
from calc.catalogs.load import FOLDER, CatalogError, load_catalogs, read_document
from calc.catalogs.rooms import label_of, path_of
from calc.catalogs.strict_yaml import read_strictly
from views.session import catalogs as session_catalogs

FAULTS = yaml.safe_load(
    (Path(__file__).parents[1] / "published" / "catalog_faults.yaml").read_text("utf-8")
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return shutil.copytree(FOLDER, tmp_path_factory.mktemp("folder") / "catalogs")


@pytest.fixture
def broken(folder):
    """Replaces one text in one file and gives the sentence that loading then raises."""
    kept = {}

    def load(name, before, after):
        path = path_of(name, folder)
        kept[path] = text = path.read_text("utf-8")
        assert before in text
        path.write_text(text.replace(before, after, 1), "utf-8")
        with pytest.raises(CatalogError) as error:
            load_catalogs(folder)
        return str(error.value)

    yield load
    for path, text in kept.items():
        path.write_text(text, "utf-8")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "fault", FAULTS["faults"], ids=lambda fault: fault["by"].strip() or fault["replace"].strip()
)
def test_a_broken_entry_is_one_sentence(broken, fault):
    sentence = broken(fault["file"], fault["replace"], fault["by"])
    assert sentence.startswith(f"{label_of(fault['file'])}, {fault['says']}")
    assert (sentence[-1], sentence.count("\n")) == (".", 0)


@pytest.mark.parametrize("case", FAULTS["misread"], ids=lambda case: case["text"])
def test_what_yaml_would_change_is_refused(case):
    with pytest.raises(CatalogError) as error:
        read_strictly(case["text"], "c.yaml")
    assert str(error.value) == case["says"]


def test_plain_values_are_read_as_written_and_a_line_that_is_no_yaml_is_named():
    text = "a: 1_000\nb: 320.0e+9\nc: .inf\nd: 2026-07-20\ne: 'no'\nf: true\ng: [x, 2.5]\nh: H100"
    read = {
        "a": 1000,
        "b": 320e9,
        "c": math.inf,
        "d": "2026-07-20",
        "e": "no",
        "f": True,
        "g": ["x", 2.5],
        "h": "H100",
    }
    assert read_strictly(text, "c.yaml") == read
    with pytest.raises(CatalogError, match=r"^c\.yaml, line 2: this is not YAML"):
        read_strictly("a: 1\nb: ]", "c.yaml")


UNFIT = {
    "an alias": "a: &one {b: 1}\nc: *one\n",
    "an alias of itself": "a: &one [*one]\n",
    "a billion laughs": "".join(
        f"a{step}: &a{step} [" + f"*a{step - 1}, " * 9 + "1]\n" for step in range(1, 30)
    ).replace("*a0, ", "1, "),
    "brackets": "a: " + "[" * 20_000 + "]" * 20_000 + "\n",
    "nested maps": "".join(f"{' ' * step}a:\n" for step in range(3000)) + " " * 3000 + "1\n",
    "a long number": "a: " + "9" * 10_000 + "\n",
    "a size beyond all": "a: " + "9" * 26 + "\n",
}


@pytest.mark.parametrize("text", UNFIT.values(), ids=UNFIT)
def test_what_no_catalog_needs_is_refused_in_a_sentence(text):
    with pytest.raises(CatalogError, match=r"\Acatalogs/x\.yaml[^\n]{1,280}\Z"):
        read_strictly(text, "catalogs/x.yaml")


def test_a_missing_file_is_a_sentence(folder):
    path_of("gpus", folder).rename(folder / "away")
    with pytest.raises(
        CatalogError,
        match=r"^catalogs/edited/gpus\.yaml: it cannot be read \(.*\); restore the file\.$",
    ):
        load_catalogs(folder)
    (folder / "away").rename(path_of("gpus", folder))


def test_the_version_follows_the_contents(catalogs, folder):
    assert load_catalogs(folder).version == catalogs.version
    path_of("prices", folder).write_text(
        path_of("prices", folder).read_text("utf-8") + "\n", "utf-8"
    )
    assert load_catalogs(folder).version != catalogs.version


def test_a_document_is_checked_once_and_each_caller_has_its_own(monkeypatch, folder):
    read_document(folder, "gpus")["gpus"].clear()
    seen = []
    monkeypatch.setattr(
        "calc.catalogs.checked_documents.check_schema",
        lambda _document, _name, file: seen.append(file),
    )
    assert "l4" in read_document(folder, "gpus")["gpus"]
    assert seen == []
    path = path_of("gpus", folder)
    path.write_bytes(path.read_bytes() + b"\n")
    read_document(folder, "gpus")
    assert seen == ["catalogs/edited/gpus.yaml"]


def test_a_checked_document_is_kept_on_disk_for_the_next_process_and_of_one_catalog_the_last_few(
    monkeypatch, tmp_path, folder
):
    content = path_of("gpus", folder).read_bytes()

    def in_a_new_process(folder=tmp_path, more=b""):
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
        checked_documents.document_text.cache_clear()
        return checked_documents.document_of(content + more, "gpus", "catalogs/edited/gpus.yaml")

    first = in_a_new_process()
    (kept,) = (tmp_path / "headroom").iterdir()
    monkeypatch.setattr(checked_documents, "read_bytes_strictly", None)  # no more asked
    assert in_a_new_process() == first
    monkeypatch.undo()
    kept.write_text("{", "utf-8")
    assert in_a_new_process() == first
    assert kept.read_text("utf-8") != "{"
    assert in_a_new_process("/dev/null") == first
    for lines in range(checked_documents.KEPT_ON_DISK + 3):
        in_a_new_process(more=b"\n" * lines)
    assert len(list((tmp_path / "headroom").iterdir())) == checked_documents.KEPT_ON_DISK


# to one file of a folder of catalogs: what is left of its text, and what the page then says of it
DAMAGE = {
    "a field is misspelled": (
        path_of,
        "prices",
        lambda text: text.replace("usd_per_hour: ", "usd_per_our: ", 1),
        "this field is unknown; write usd_per_hour.",
    ),
    "cut": (
        path_of,
        "models",
        lambda text: text[: text.index("hidden", 9_000)],
        "catalogs/edited/models.yaml",
    ),
    "emptied": (
        path_of,
        "gpus",
        lambda _: "",
        "catalogs/edited/gpus.yaml: the file must hold a mapping",
    ),
    "one that no table holds": (
        path_of,
        "setups",
        lambda _: "",
        "catalogs/edited/setups.yaml: the file must",
    ),
    "removed": (path_of, "instances", None, "catalogs/edited/instances.yaml: it cannot be read"),
    "the folder folder is gone": (
        lambda _, folder: folder,
        "",
        None,
        "it cannot be read (No such file or directory); restore the file",
    ),
}


def rewritten(path, change):
    path.write_text(change(path.read_text("utf-8")), "utf-8")


@pytest.mark.long
def test_a_catalog_may_change_under_the_running_app(monkeypatch, tmp_path):
    """The next run of the page takes the new numbers; of files that cannot be read it keeps the
    last good ones and says so.
    """
    folder = shutil.copytree(FOLDER, tmp_path / "catalogs")
    monkeypatch.setattr("views.session.catalogs.FOLDER", folder)

    def shown(app):
        assert not app.exception
        assert not app.error
        return cards(app)

    app = opened()
    first = shown(app)
    assert first
    rewritten(
        path_of("prices", folder),
        lambda text: re.sub(r"usd_per_hour: [\d.]+", "usd_per_hour: 7.5", text),
    )
    other = shown(app.run())
    assert other  # how many answers there are hangs on the prices
    assert other != first
    good = shutil.copytree(folder, tmp_path / "good")
    for damage, (place, name, change, sentence) in DAMAGE.items():
        if change:
            rewritten(place(name, folder), change)
        else:
            shutil.rmtree(place(name, folder)) if place(name, folder).is_dir() else place(
                name, folder
            ).unlink()
        for page in (app.run(), opened()):  # who was there, and who comes now
            assert shown(page) == other, damage
            assert sentence in " ".join(warning.value for warning in page.warning), damage
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(good, folder)
        assert shown(app.run()) == other
        assert not app.warning


@pytest.mark.long
def test_catalogs_that_never_could_be_read_stop_the_page_until_they_are_mended(
    monkeypatch, tmp_path
):
    folder = shutil.copytree(FOLDER, tmp_path / "catalogs")
    monkeypatch.setattr("views.session.catalogs.FOLDER", folder)
    session_catalogs._read.clear()
    session_catalogs._last_good.clear()
    rewritten(path_of("gpus", folder), lambda _: "")
    app = opened()
    assert app.error[0].value.startswith("catalogs/edited/gpus.yaml: the file must hold a mapping")
    assert not app.title
    shutil.copy(path_of("gpus"), path_of("gpus", folder))
    app.run()
    assert not app.error
    assert cards(app)


def test_a_small_question_does_not_wait_for_a_large_one_and_equal_questions_share_an_answer():
    small, made = Event(), []

    def answer(job):
        made.append(job)
        assert job == "little" or small.wait(60)  # the long one ends only after the short one
        return job

    asked = last_few(2, answer)
    with ThreadPoolExecutor() as sessions:
        long = [sessions.submit(asked, "much") for _ in range(2)]
        assert asked("little") == "little"
        small.set()
        assert ([one.result(60) for one in long], sorted(made)) == (
            ["much", "much"],
            ["little", "much"],
        )
