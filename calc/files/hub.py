"""A model by its repository id on the Hugging Face hub, where there is a network.

Needs huggingface_hub (requirements/hub.txt), which reads the token and the hub's address from its
usual variables. It requests two files and sends only their names.
"""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

from calc.mappings import Json
from calc.models.huggingface.config import ConfigError, read_config_text

INDEX = "model.safetensors.index.json"
MOST_SECONDS = 3  # for each of the two files
INSTEAD = "paste its config.json instead"


def model_of(repository: str) -> str:
    """The id of a repository's model: its name in lower case, qwen3-8b for Qwen/Qwen3-8B."""
    return (
        re.sub(r"[^a-z0-9.-]+", "-", repository.rpartition("/")[2].lower()).strip("-.")
        or "my-model"
    )


def read_repository(repository: str, catalogs: Any) -> Json:
    """The entry of the model in a repository (org/name); raises ConfigError."""
    if not re.fullmatch(r"[\w.-]{1,96}/[\w.-]{1,96}", repository):
        raise ConfigError(
            f"{repository[:80]!r} is not a repository of the hub; write it as org/name."
        )
    text = _file(repository, "config.json")
    index = _file(repository, INDEX, needed=False)
    stored = _stored_bytes(index)
    entry = read_config_text(f"{text}\n{index}" if stored else text, model_of(repository), catalogs)
    size = f" Its checkpoint on the hub has {stored / 1e9:,.1f} GB." if stored else ""
    about = {
        "name": repository.rpartition("/")[2],
        "hf_repo": repository,
        "source": f"config.json of {repository} on the Hugging Face hub",
    }
    return {**entry, **about, "notes": (entry.get("notes", "") + size).strip()}


def _file(repository: str, name: str, needed: bool = True) -> str:
    """The text of one file of a repository on the hub; ConfigError says why it is not there."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        from huggingface_hub import errors, hf_hub_download
    except ImportError:
        missing = "reading from the hub needs huggingface_hub, which is not installed (make hub)"
        raise ConfigError(f"{repository}: {missing}; {INSTEAD}.") from None
    reasons = {
        TimeoutError: f"the hub did not answer within {MOST_SECONDS} seconds; {INSTEAD}",
        UnicodeDecodeError: f"its {name} is not UTF-8 text; {INSTEAD}",
        errors.GatedRepoError: (
            f"the hub asks for access to it; set HF_TOKEN to a token that has it, or {INSTEAD}"
        ),
        errors.RepositoryNotFoundError: (
            "the hub has no such repository, or it is private; check its name, or set HF_TOKEN"
        ),
        errors.LocalEntryNotFoundError: f"the hub cannot be reached; {INSTEAD}",
        errors.EntryNotFoundError: (
            f"it has no {name}, so it is not a transformers model; choose another repository"
        ),
    }
    try:
        return _in_time(lambda: hf_hub_download(repository, name, etag_timeout=MOST_SECONDS))
    except Exception as error:
        kind = next((kind for kind in reasons if isinstance(error, kind)), None)
        if kind is errors.EntryNotFoundError and not needed:
            return ""
        reason = (
            reasons[kind] if kind else f"the hub did not answer ({type(error).__name__}); {INSTEAD}"
        )
        raise ConfigError(f"{repository}: {reason}.") from None


def _in_time(download: Callable[[], str]) -> str:
    """The text of the file that is downloaded, or what that raised; TimeoutError after a while.

    The library tries again and again, each time with a time limit of its own.
    """
    outcome: Queue[tuple[str, Exception | None]] = Queue()

    def work() -> None:
        try:
            outcome.put((Path(download()).read_text(encoding="utf-8-sig"), None))
        except Exception as error:
            outcome.put(("", error))

    Thread(target=work, daemon=True).start()
    try:
        text, error = outcome.get(timeout=MOST_SECONDS)
    except Empty:
        raise TimeoutError from None
    if error:
        raise error
    return text


def _stored_bytes(text: str) -> int:
    """The size of all weights by the index, 0 where it does not say. [B]"""
    try:
        return int(json.loads(text)["metadata"]["total_size"])
    except (ValueError, TypeError, LookupError):
        return 0
