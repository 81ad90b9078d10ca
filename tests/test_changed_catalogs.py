"""Catalogs that change, break or go under the running app: the page takes what is sound, keeps the last good ones and says so."""

import re
import shutil

import pytest
from pages import opened

from calc.catalogs.load import FOLDER
from calc.catalogs.rooms import path_of, schema_of
from views.session import catalogs as session_catalogs

DAMAGE = {  # to a folder of catalogs, with what the page then says of it
    "a field is misspelt": (
        lambda folder: rewritten(path_of("prices", folder), lambda text: text.replace("usd_per_hour: ", "usd_per_our: ", 1)),
        "usd_per_hour: this field is missing; add it",
    ),
    "cut": (
        lambda folder: rewritten(path_of("models", folder), lambda text: text[: text.index("hidden", 9_000)]),
        "catalogs/edited/models.yaml",
    ),
    "emptied": (lambda folder: rewritten(path_of("gpus", folder), lambda _: ""), "catalogs/edited/gpus.yaml: the file must hold a mapping"),
    "removed": (lambda folder: (path_of("instances", folder)).unlink(), "catalogs/edited/instances.yaml: it cannot be read"),
    "its schema is cut": (
        lambda folder: rewritten(schema_of("heads", folder), lambda text: text[:9]),
        "catalogs/read_off/schema/heads.json: this is not a schema",
    ),
    "one that no table holds": (
        lambda folder: rewritten(path_of("setups", folder), lambda _: ""),
        "catalogs/edited/setups.yaml: the file must",
    ),
    "the whole folder is gone": (shutil.rmtree, "it cannot be read (No such file or directory); put the file back"),
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
    assert len(other) == len(first)
    assert other != first
    good = shutil.copytree(folder, tmp_path / "good")
    for damage, (harm, sentence) in DAMAGE.items():
        harm(folder)
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
