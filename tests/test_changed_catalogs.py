"""Catalogs that change, break or go under the running app: the page takes what is sound, keeps the last good ones and says so."""

import re
import shutil

import pytest
from pages import opened

from calc.catalogs.load import FOLDER
from calc.catalogs.rooms import path_of, schema_of
from views.session import catalogs as session_catalogs

DAMAGE = {  # to one file of a folder of catalogs: what is left of its text, and what the page then says of it
    "a field is misspelt": (path_of, "prices", lambda text: text.replace("usd_per_hour: ", "usd_per_our: ", 1), "this field is missing"),
    "cut": (path_of, "models", lambda text: text[: text.index("hidden", 9_000)], "catalogs/edited/models.yaml"),
    "emptied": (path_of, "gpus", lambda _: "", "catalogs/edited/gpus.yaml: the file must hold a mapping"),
    "its schema is cut": (schema_of, "heads", lambda text: text[:9], "catalogs/read_off/schema/heads.json: this is not a schema"),
    "one that no table holds": (path_of, "setups", lambda _: "", "catalogs/edited/setups.yaml: the file must"),
    "removed": (path_of, "instances", None, "catalogs/edited/instances.yaml: it cannot be read"),
    "the whole folder is gone": (lambda _, folder: folder, "", None, "it cannot be read (No such file or directory); put the file back"),
}


def rewritten(path, change):
    path.write_text(change(path.read_text("utf-8")), "utf-8")


@pytest.mark.long
def test_a_catalog_may_change_under_the_running_app(monkeypatch, tmp_path):
    """The next run of the page takes the new numbers; of files that cannot be read it keeps the last good ones and says so."""
    folder = shutil.copytree(FOLDER, tmp_path / "catalogs")
    monkeypatch.setattr("views.session.catalogs.FOLDER", folder)

    def shown(app):
        assert not app.exception
        assert not app.error
        return [metric.value for metric in app.metric]

    app = opened()
    first = shown(app)
    assert first
    rewritten(path_of("prices", folder), lambda text: re.sub(r"usd_per_hour: [\d.]+", "usd_per_hour: 7.5", text))
    other = shown(app.run())
    assert other  # how many answers there are hangs on the prices
    assert other != first
    good = shutil.copytree(folder, tmp_path / "good")
    for damage, (place, name, change, sentence) in DAMAGE.items():
        if change:
            rewritten(place(name, folder), change)
        else:
            shutil.rmtree(place(name, folder)) if place(name, folder).is_dir() else place(name, folder).unlink()
        for each in (app.run(), opened()):  # who was there, and who comes now
            assert shown(each) == other, damage
            assert sentence in " ".join(warning.value for warning in each.warning), damage
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(good, folder)
        assert shown(app.run()) == other
        assert not app.warning


def test_catalogs_that_never_could_be_read_stop_the_page_until_they_are_mended(monkeypatch, tmp_path):
    folder = shutil.copytree(FOLDER, tmp_path / "catalogs")
    monkeypatch.setattr("views.session.catalogs.FOLDER", folder)
    session_catalogs._read.clear()
    session_catalogs._last_good.clear()
    rewritten(path_of("gpus", folder), lambda _: "")
    app = opened()
    assert app.error[0].value.startswith("catalogs/edited/gpus.yaml: the file must hold a mapping")
    assert not app.metric
    shutil.copy(path_of("gpus"), path_of("gpus", folder))
    app.run()
    assert not app.error
    assert app.metric
