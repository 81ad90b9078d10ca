"""A model by its repository id on the Hugging Face hub, where there is a network.

Needs huggingface_hub (requirements/hub.txt), which reads the token and the hub's address from its usual variables. It requests two
files and sends only their names.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

from calc.models.huggingface.config import ConfigError, read_config_text

INDEX = "model.safetensors.index.json"
INSTEAD = "paste its config.json instead"


def model_of(repository: str) -> str:
    """The id of a repository's model: its name in lower case, qwen3-8b for Qwen/Qwen3-8B."""
    return re.sub(r"[^a-z0-9.-]+", "-", repository.rpartition("/")[2].lower()).strip("-.") or "my-model"


def read_repository(repository: str, catalogs: Any) -> dict[str, Any]:
    """The entry of the model in a repository (org/name); raises ConfigError."""
    if not re.fullmatch(r"[\w.-]{1,96}/[\w.-]{1,96}", repository):
        raise ConfigError(f"{repository[:80]!r} is not a repository of the hub; write it as org/name.")
    text = _file(repository, "config.json")
    index = _file(repository, INDEX, needed=False)
    stored = _stored_bytes(index)
    entry = read_config_text(f"{text}\n{index}" if stored else text, model_of(repository), catalogs)
    size = f" Its checkpoint on the hub has {stored / 1e9:,.1f} GB." if stored else ""
    about = {"name": repository.rpartition("/")[2], "hf_repo": repository, "source": f"config.json of {repository} on the Hugging Face hub"}
    return {**entry, **about, "notes": (entry.get("notes", "") + size).strip()}


def _file(repository: str, name: str, needed: bool = True) -> str:
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        from huggingface_hub import errors, hf_hub_download
    except ImportError:
        raise ConfigError(
            f"{repository}: reading from the hub needs huggingface_hub, which is not installed (make hub); {INSTEAD}."
        ) from None
    try:
        return Path(hf_hub_download(repository, name, etag_timeout=10)).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{repository}: its {name} is not UTF-8 text; {INSTEAD}.") from None
    except errors.GatedRepoError:
        raise ConfigError(f"{repository}: access to it must be granted; set HF_TOKEN to a token that has access, or {INSTEAD}.") from None
    except errors.RepositoryNotFoundError:
        raise ConfigError(f"{repository}: the hub has no such repository, or it is private; check the name, or set HF_TOKEN.") from None
    except errors.LocalEntryNotFoundError:
        raise ConfigError(f"{repository}: the hub cannot be reached; {INSTEAD}.") from None
    except errors.EntryNotFoundError:
        if not needed:
            return ""
        raise ConfigError(f"{repository}: it has no {name}, so it is not a model of transformers; choose another repository.") from None
    except Exception as error:
        raise ConfigError(f"{repository}: the hub did not answer ({type(error).__name__}); {INSTEAD}.") from None


def _stored_bytes(text: str) -> int:
    """The size of all weights by the index, 0 where it does not say. [B]"""
    try:
        return int(json.loads(text)["metadata"]["total_size"])
    except (ValueError, TypeError, LookupError):
        return 0
