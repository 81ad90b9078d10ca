"""Service classes: the defaults of a job of each class."""

from calc.catalogs.load import read_catalog, read_once
from calc.catalogs.schemas import service_classes as classes_catalog
from calc.evaluate import Row
from calc.mappings import Cells

COLUMN = "service_class"


@read_once
def service_classes() -> dict[str, classes_catalog.ServiceClass]:
    """The service classes by id (catalogs/edited/service_classes.yaml)."""
    return read_catalog(classes_catalog.File).classes


def class_defaults(name: str, work: str) -> Row:
    """Columns of a job of a class and their values; none without a class, or of another name."""
    entry = service_classes().get(name)
    return dict(getattr(entry, work)) if entry else {}


def with_class_defaults(columns: Cells, work: str) -> Row:
    """The columns of a job over those of its class."""
    name = str(columns.get(COLUMN) or "").strip().lower()
    return class_defaults(name, work) | dict(columns)
