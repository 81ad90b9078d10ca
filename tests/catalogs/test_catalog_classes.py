"""The classes of the catalogs: each is the reader of its file, and its JSON Schema is in step."""

import json
import pkgutil

import msgspec
import pytest
from jsonschema import Draft202012Validator

from calc.catalogs import schemas
from calc.catalogs.load import FOLDER, CatalogError, read_document
from calc.catalogs.rooms import ROOM_OF, path_of, schema_of
from calc.catalogs.schema_check import check_schema
from calc.catalogs.schemas.__main__ import schema_text
from calc.catalogs.schemas.json_schema import file_class, json_schema_of

SHARED = {"__main__", "json_schema", "kinds", "simulated_model"}  # of no catalog or of several
READ = sorted(name for name in ROOM_OF if path_of(name).exists())


def test_every_catalog_has_a_module_of_classes_and_no_module_is_left_over():
    modules = {module.name for module in pkgutil.iter_modules(schemas.__path__)}
    assert modules - SHARED == set(ROOM_OF)


@pytest.mark.parametrize("name", sorted(ROOM_OF))
def test_the_schema_for_editors_is_that_of_the_classes_and_valid(name):
    Draft202012Validator.check_schema(json_schema_of(name))
    assert schema_of(name).read_text("utf-8") == schema_text(name), "run make schemas"


@pytest.mark.parametrize("name", READ)
def test_a_catalog_is_read_into_its_class_and_loses_nothing(name):
    document = read_document(FOLDER, name)
    read = msgspec.json.decode(json.dumps(document), type=file_class(name))
    assert msgspec.to_builtins(read) == document


@pytest.mark.parametrize("name", [*READ, "simulated_model"])
def test_a_field_that_may_be_left_out_is_never_null(name):
    schema = json.dumps(json_schema_of(name))
    assert '"null"' not in schema
    assert '"default": null' not in schema


WRONG = {  # what is done to one line of a log's pattern -> what the error then says
    "two": ({"figure": "speed", "fact": "gpus"}, "write exactly one of figure, fact."),
    "none": ({}, "write exactly one of figure, fact."),
}


@pytest.mark.parametrize(("fields", "cure"), WRONG.values(), ids=WRONG)
def test_fields_that_exclude_each_other_are_named(fields, cure):
    document = read_document(FOLDER, "run_logs")
    document["lines"][0] = {"tool": "trl", "pattern": "x"} | fields
    with pytest.raises(CatalogError) as error:
        check_schema(document, "run_logs", "run_logs.yaml")
    assert str(error.value).endswith(cure)


def test_a_field_that_another_one_needs_is_named():
    document = read_document(FOLDER, "gpus")
    del document["gpus"]["a10"]["memory_source"]
    with pytest.raises(CatalogError, match=r"entry a10, field memory_source: .* beside memory_mib"):
        check_schema(document, "gpus", "gpus.yaml")
