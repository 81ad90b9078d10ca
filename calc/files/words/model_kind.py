"""The model of a text, with what it takes in and gives back."""

import re
from typing import NamedTuple

from calc.catalogs.load import Catalogs

SEEING = ("vision", "dual")
HEARING = ("audio", "sound")
ANSWERS_ONCE = ("audio", "sound", "vision", "dual")
VECTORS = ("encoder", "vision", "dual", "sound")  # kinds of models that answer with a vector


class Kind(NamedTuple):
    """The model of a text, with what it takes in and gives back."""

    model: str
    catalogs: Catalogs

    @property
    def name(self) -> str:
        """Return the kind of the model in the catalog; empty where no model is known."""
        return str(self.catalogs.models["kind"].get(self.model, ""))

    @property
    def hears(self) -> bool:
        """Return whether the model takes sound."""
        return self.name in HEARING

    @property
    def answers_once(self) -> bool:
        """Return whether the model gives one answer to each sound or image."""
        return self.name in ANSWERS_ONCE

    @property
    def embeds(self) -> bool:
        """Return whether the model answers with a vector or a number."""
        named = bool(re.search(r"embed|rerank|bge-", self.model))
        return bool(self.model) and (self.name in VECTORS or named)

    @property
    def has_experts(self) -> bool:
        """Return whether the model reads a token with a part of its parameters."""
        table = self.catalogs.models
        if self.model not in table.index:
            return False
        return bool(table["active_parameters"][self.model] < table["parameters"][self.model])

    @property
    def sees_pages(self) -> bool:
        """Return whether the model takes images, so that a page is one."""
        if self.model not in self.catalogs.models.index:
            return True
        tokens = self.catalogs.models["usual_image_tokens"][self.model]
        return self.name in SEEING or float(tokens) > 0
