"""The classes of service_classes.yaml: its schema, its reader and its documentation."""

from calc.catalogs.schemas.kinds import CatalogFile, Column, Entry, FilledMap, Key, Text


class ServiceClass(Entry, kw_only=True):
    """What a job of the class takes where it says nothing else, by its work."""

    phrase: Text
    about: Text
    training: FilledMap[Column, Text | float]
    inference: FilledMap[Column, Text | float]


class File(CatalogFile, kw_only=True):
    """Service classes of jobs."""

    classes: FilledMap[Key, ServiceClass]
