"""Overlays of Kustomize: the manifests of a base with the patches over them.

Source: Kustomize documentation, The Kustomization File; as of 2026-12-01.
"""

import posixpath
import re
from pathlib import PurePath
from typing import Any

from calc.files.configs.manifest_patches import merged_patch, with_operations
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.yaml_text import read_yaml, read_yaml_documents, yaml_of
from calc.mappings import Json

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
RESOURCES = ("resources", "bases")
PATCHES = ("patches", "patchesStrategicMerge", "patchesJson6902")
APPLIED = (*RESOURCES, *PATCHES, "images", "replicas", "configMapGenerator")
IDLE = (
    *("apiVersion", "kind", "metadata", "namespace", "namePrefix", "nameSuffix", "labels"),
    *("commonLabels", "commonAnnotations", "generatorOptions", "secretGenerator", "sortOptions"),
)  # fields that change no memory, time or price
COMMENT = re.compile(r"^#[^\n]*", re.M)
MOST_LEVELS, MOST_STARS = 6, 2
MOST_READS = 200  # of files, each as often as an overlay takes it
Texts = list[tuple[str, str]]


def with_overlays(texts: Texts) -> Texts:
    """The texts (text, file) of a run; manifests of Kustomize as its overlays leave them.

    The overlays that no other takes as its base are read. What of one is not applied here keeps
    its file among the texts, so that it is named as not read. All stay as they are if one is no
    valid YAML, or if they lead too deep.
    """
    overlays = [file for _, file in texts if PurePath(file).name in NAMES]
    if not overlays:
        return texts
    built = _Overlays(dict((file, text) for text, file in texts))
    try:
        inner = {one for file in overlays for one in built.resources(file)}
        roots = [file for file in overlays if file not in inner] or overlays[:1]
        documents = [one for root in roots for one in built.documents(root, 0)]
    except (ConfigProblem, AttributeError, TypeError, ValueError):
        return texts
    if not built.first:  # no manifest that the overlays change is here
        return texts
    comments = [line for file in sorted(built.used) for line in COMMENT.findall(built.texts[file])]
    whole = "\n".join([*comments, yaml_of(documents)])
    left = [(text, file) for text, file in texts if file not in built.used]
    return [(whole, built.first), *left, *((text, file) for file, text in built.unread.items())]


class _Overlays:
    """The kustomizations among some texts, and the files that they have taken."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self.used: set[str] = set()
        self.unread: dict[str, str] = {}  # overlay -> its fields that are not applied, as a text
        self.first = ""  # the file of the first manifest
        self.reads = 0

    def resources(self, file: str) -> list[str]:
        """The files among the texts that an overlay takes as its resources."""
        listed = [one for name in RESOURCES for one in self._overlay(file).get(name) or []]
        return [found for one in listed if (found := self._beside(file, str(one)))]

    def documents(self, file: str, level: int) -> list[Json]:
        """The manifests of an overlay, patched; of a plain file as they stand there."""
        self.used.add(file)
        self.reads += 1
        if level > MOST_LEVELS or self.reads > MOST_READS:
            raise ConfigProblem(f"{file}: its overlays lead too deep; paste what Kustomize builds.")
        if PurePath(file).name not in NAMES:
            self.first = self.first or file
            several = read_yaml_documents(self.texts[file], file)
            return [one for one in several if isinstance(one, dict)]
        overlay = self._overlay(file)
        if others := {k: overlay[k] for k in overlay if k not in (*APPLIED, *IDLE)}:
            self.unread[file] = yaml_of([others])
        inner = [one for other in self.resources(file) for one in self.documents(other, level + 1)]
        inner += [_generated(one) for one in overlay.get("configMapGenerator") or []]
        for name in PATCHES:
            for patch in overlay.get(name) or []:
                inner = self._patched(inner, patch, file)
        return [_with_images(_with_replicas(one, overlay), overlay) for one in inner]

    def _overlay(self, file: str) -> Json:
        """The fields of a kustomization; empty for another file."""
        fields = read_yaml(self.texts[file], file) if PurePath(file).name in NAMES else {}
        return fields if isinstance(fields, dict) else {}

    def _beside(self, file: str, path: str) -> str:
        """The file at a path from that of an overlay, or the overlay in that folder; or empty."""
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
        wanted = (whole, *(posixpath.join(whole, name).removeprefix("./") for name in NAMES))
        return next((one for one in wanted if one in self.texts), "")

    def _patched(self, documents: list[Json], patch: Any, file: str) -> list[Json]:
        """Manifests with a patch that stands in an overlay or in a file beside it."""
        fields = patch if isinstance(patch, dict) else {"path": patch}
        text = str(fields.get("patch") or fields.get("path") or "")
        if "patch" not in fields and "\n" not in text:
            found = self._beside(file, text)
            if not found:
                self.unread[file] = yaml_of([{"patches": [fields]}])
                return documents
            self.used.add(found)
            text = self.texts[found]
        for one in read_yaml_documents(text, file):
            documents = [_with_patch(document, one, fields) for document in documents]
        return documents


def _with_patch(document: Json, patch: Any, fields: Json) -> Json:
    """A manifest with a patch, if it is the one that the patch is for."""
    target = fields.get("target") or (_target(patch) if isinstance(patch, dict) else {})
    own = _target(document)
    is_meant = all(_is_named(str(own[name]), str(target[name])) for name in own if target.get(name))
    if not is_meant or not _has_labels(document, str(target.get("labelSelector") or "")):
        return document
    if isinstance(patch, list):
        return with_operations(document, patch)
    return {**merged_patch(document, patch), "metadata": document.get("metadata", {})}


def _is_named(name: str, pattern: str) -> bool:
    """Return whether a name matches the pattern of a target, of which .* and | are read."""
    return any(
        one.count(".*") <= MOST_STARS
        and re.fullmatch(re.escape(one).replace(r"\.\*", ".*"), name) is not None
        for one in pattern.strip("^$").split("|")
    )


def _has_labels(document: Json, selector: str) -> bool:
    """Return whether a manifest has the labels of a selector such as app=llm,tier=gpu."""
    labels = (document.get("metadata") or {}).get("labels") or {}
    pairs = (one.replace("==", "=").partition("=") for one in selector.split(",") if one)
    return all(labels.get(name.strip()) == value.strip() for name, _, value in pairs)


def _target(document: Json) -> Json:
    """The kind and the name of a manifest."""
    return {
        "kind": document.get("kind", ""),
        "name": (document.get("metadata") or {}).get("name", ""),
    }


def _generated(generator: Json) -> Json:
    """The ConfigMap that a generator makes of its literals."""
    pairs = [str(one).partition("=") for one in generator.get("literals") or []]
    data = {name: value.strip("'\"") for name, _, value in pairs}
    metadata = {"name": generator.get("name", "")}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _with_replicas(document: Json, overlay: Json) -> Json:
    """A manifest with the number of replicas that an overlay gives its name."""
    for one in overlay.get("replicas") or []:
        if one.get("name") == _target(document)["name"] and "replicas" in document.get("spec", {}):
            document = {**document, "spec": {**document["spec"], "replicas": one.get("count")}}
    return document


def _with_images(node: Any, overlay: Json) -> Any:
    """A part of a manifest with the images that an overlay renames or moves to another tag."""
    if isinstance(node, list):
        return [_with_images(one, overlay) for one in node]
    if not isinstance(node, dict):
        return node
    changed = {key: _with_images(value, overlay) for key, value in node.items()}
    image = changed.get("image")
    for one in (overlay.get("images") or []) if isinstance(image, str) else []:
        name, _, tag = str(image).partition(":")
        if name == one.get("name"):
            tag = str(one.get("newTag") or tag)
            changed["image"] = ":".join(filter(None, (one.get("newName") or name, tag)))
    return changed
