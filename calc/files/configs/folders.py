"""Which model stands in a folder: what the files of a run download there."""

import re

from calc.catalogs.load import Catalogs
from calc.files.configs.model_names import nearest_id

FOLDER = re.compile(r"(?:/|\./|\.\./|~/|s3://|gs://|[A-Za-z]:\\)")
MARKS = re.compile(r"[\"',()\[\]=]|\\\n|^[ \t]*-[ \t]+", re.M)  # between the words of a command
REPOSITORY = r"(?P<model>[\w.-]{1,96}/[\w.-]{1,96})"
INTO = r"[ \n\t]+(?P<folder>[^\s;|&$]{1,200})"
BETWEEN = r"[^;|&]{0,200}?"
DOWNLOADS = (
    re.compile(
        rf"\b(?:huggingface-cli|hf|tune)\s+download\s+{REPOSITORY}\s{BETWEEN}"
        rf"--(?:local|output)-dir{INTO}"
    ),
    re.compile(rf"\bsnapshot_download\s+(?:repo_id\s+)?{REPOSITORY}\s{BETWEEN}\blocal_dir{INTO}"),
    re.compile(rf"\bgit\s+clone\s+\S{{0,40}}huggingface\.co/{REPOSITORY}{INTO}"),
)
MOST_CHARACTERS = 200_000
UNKNOWN_FOLDER = (
    "{}: the folder {} does not say which model it holds{}; name the model, or add its config.json."
)


def is_folder(name: str) -> bool:
    """Return whether a model is named by a place on a disk or in a bucket."""
    return bool(FOLDER.match(name))


def downloads_of(texts: list[str]) -> dict[str, str]:
    """The folders into which the texts download models, each with the model's repository."""
    words = (MARKS.sub(" ", text[:MOST_CHARACTERS]) for text in texts)
    return {
        match["folder"].rstrip("/"): match["model"]
        for text in words
        for download in DOWNLOADS
        for match in download.finditer(text)
    }


def model_in_folder(folder: str, downloads: dict[str, str]) -> str:
    """The model downloaded to a folder, which another container may mount elsewhere; or empty."""
    plain = folder.rstrip("/")
    if plain in downloads:
        return downloads[plain]
    last = plain.rpartition("/")[2]
    named = {model for place, model in downloads.items() if place.rpartition("/")[2] == last}
    return named.pop() if len(named) == 1 else ""


def unknown_model(model: str, where: str, catalogs: Catalogs) -> str:
    """The sentence for a model that the catalog lacks, or a folder that does not say which."""
    name = model.rstrip("/").rpartition("/")[2] if is_folder(model) else model
    close = nearest_id(name, catalogs)
    if is_folder(model):
        return UNKNOWN_FOLDER.format(where, model[:80], f" (is it {close}?)" if close else "")
    cure = f"the nearest is {close}" if close else "none has a name like it"
    return (
        f"{where}: {model[:80]} is not in the catalog ({cure}); choose another, or "
        f"add its config.json."
    )
