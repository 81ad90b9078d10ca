"""What a catalog's file may be: read strictly, checked once, kept; a sentence with its cure for what is wrong."""

import math
import shutil
from pathlib import Path

import pytest
import yaml

from calc.catalogs import checked
from calc.catalogs.load import FOLDER, CatalogError, load_catalogs, read_document
from calc.catalogs.rooms import label_of, path_of, schema_of
from calc.catalogs.strict_yaml import read_strictly

FAULTS = yaml.safe_load((Path(__file__).parent / "published" / "catalog_faults.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return shutil.copytree(FOLDER, tmp_path_factory.mktemp("whole") / "catalogs")


@pytest.fixture
def broken(whole):
    """Replaces one text in one file and gives the sentence that loading then raises."""
    kept = {}

    def load(name, before, after):
        path = path_of(name, whole)
        kept[path] = text = path.read_text("utf-8")
        assert before in text
        path.write_text(text.replace(before, after, 1), "utf-8")
        with pytest.raises(CatalogError) as error:
            load_catalogs(whole)
        return str(error.value)

    yield load
    for path, text in kept.items():
        path.write_text(text, "utf-8")


@pytest.mark.parametrize("fault", FAULTS["faults"], ids=lambda fault: fault["by"].strip() or fault["replace"].strip())
def test_a_broken_entry_is_one_sentence(broken, fault):
    said = broken(fault["file"], fault["replace"], fault["by"])
    assert said.startswith(f"{label_of(fault['file'])}, {fault['says']}")
    assert (said[-1], said.count("\n")) == (".", 0)


@pytest.mark.parametrize("case", FAULTS["misread"], ids=lambda case: case["text"])
def test_what_yaml_would_change_is_refused(case):
    with pytest.raises(CatalogError) as error:
        read_strictly(case["text"], "c.yaml")
    assert str(error.value) == case["says"]


def test_plain_values_are_read_as_written_and_a_line_that_is_no_yaml_is_named():
    text = "a: 1_000\nb: 320.0e+9\nc: .inf\nd: 2026-07-20\ne: 'no'\nf: true\ng: [x, 2.5]\nh: H100"
    read = {"a": 1000, "b": 320e9, "c": math.inf, "d": "2026-07-20", "e": "no", "f": True, "g": ["x", 2.5], "h": "H100"}
    assert read_strictly(text, "c.yaml") == read
    with pytest.raises(CatalogError, match=r"^c\.yaml, line 2: this is not YAML"):
        read_strictly("a: 1\nb: ]", "c.yaml")


UNFIT = {
    "an alias": "a: &one {b: 1}\nc: *one\n",
    "an alias of itself": "a: &one [*one]\n",
    "a billion laughs": "".join(f"a{step}: &a{step} [" + f"*a{step - 1}, " * 9 + "1]\n" for step in range(1, 30)).replace("*a0, ", "1, "),
    "brackets": "a: " + "[" * 20_000 + "]" * 20_000 + "\n",
    "nested maps": "".join(f"{' ' * step}a:\n" for step in range(3000)) + " " * 3000 + "1\n",
    "a long number": "a: " + "9" * 10_000 + "\n",
    "a size beyond all": "a: " + "9" * 26 + "\n",
}


@pytest.mark.parametrize("text", UNFIT.values(), ids=UNFIT)
def test_what_no_catalog_needs_is_refused_in_a_sentence(text):
    with pytest.raises(CatalogError, match=r"\Acatalogs/x\.yaml[^\n]{1,280}\Z"):
        read_strictly(text, "catalogs/x.yaml")


@pytest.mark.parametrize(
    "schema", ["", "{", "[]", "5", "{}", '{"properties": 3}', '{"properties": {"source": 3}}', '{"properties": {}, "type": "odd"}']
)
def test_a_schema_that_is_none_is_a_sentence(whole, schema):
    path = schema_of("heads", whole)
    kept = path.read_text("utf-8")
    path.write_text(schema, "utf-8")
    with pytest.raises(CatalogError, match=r"^catalogs/read_off/schema/heads.json: this is not a schema"):
        load_catalogs(whole)
    path.write_text(kept, "utf-8")


def test_a_missing_file_is_a_sentence(whole):
    path_of("gpus", whole).rename(whole / "away")
    with pytest.raises(CatalogError, match=r"^catalogs/edited/gpus\.yaml: it cannot be read \(.*\); put the file back\.$"):
        load_catalogs(whole)
    (whole / "away").rename(path_of("gpus", whole))


def test_the_version_follows_the_contents(catalogs, whole):
    assert load_catalogs(whole).version == catalogs.version
    path_of("prices", whole).write_text(path_of("prices", whole).read_text("utf-8") + "\n", "utf-8")
    assert load_catalogs(whole).version != catalogs.version


def test_a_document_is_checked_once_and_each_caller_has_its_own(monkeypatch, whole):
    read_document(whole, "gpus")["gpus"].clear()
    seen = []
    monkeypatch.setattr("calc.catalogs.checked.check_schema", lambda _document, _schema, file: seen.append(file))
    assert "l4" in read_document(whole, "gpus")["gpus"]
    assert seen == []
    schema = schema_of("gpus", whole)
    schema.write_bytes(schema.read_bytes() + b"\n")
    read_document(whole, "gpus")
    assert seen == ["catalogs/edited/gpus.yaml"]


def test_a_checked_document_is_kept_on_disk_for_the_next_process_and_of_one_catalog_the_last_few(monkeypatch, tmp_path, whole):
    content, schema = path_of("gpus", whole).read_bytes(), schema_of("gpus", whole).read_bytes()

    def in_a_new_process(folder=tmp_path, more=b""):
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
        checked._checked.cache_clear()
        return checked.document_of(content + more, schema, "catalogs/edited/gpus.yaml")

    first = in_a_new_process()
    (kept,) = (tmp_path / "headroom").iterdir()
    monkeypatch.setattr(checked, "read_strictly", None)  # no more asked
    assert in_a_new_process() == first
    monkeypatch.undo()
    kept.write_text("{", "utf-8")
    assert in_a_new_process() == first
    assert kept.read_text("utf-8") != "{"
    assert in_a_new_process("/dev/null") == first
    for lines in range(checked.KEPT_ON_DISK + 3):
        in_a_new_process(more=b"\n" * lines)
    assert len(list((tmp_path / "headroom").iterdir())) == checked.KEPT_ON_DISK
