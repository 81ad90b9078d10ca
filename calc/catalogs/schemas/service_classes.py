"""The classes of service_classes.yaml: its schema, its reader and its documentation."""

from calc.catalogs.schemas.kinds import CatalogFile, Column, Entry, FilledMap, Key, Text


class ServiceClass(Entry, kw_only=True):
    """Defaults of the jobs of a class, by their work: columns and their values."""

    phrase: Text
    about: Text
    training: FilledMap[Column, Text | float]
    inference: FilledMap[Column, Text | float]


class File(CatalogFile, kw_only=True):
    """Service classes of jobs."""

    classes: FilledMap[Key, ServiceClass]
