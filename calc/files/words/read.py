"""A job in plain words: what each phrase sets, and what no phrase reads.

`show`, the agent's tools and the field on the page all read words here
(catalogs/edited/vocabulary.yaml).
"""

import re
from typing import Any, NamedTuple

from calc.catalogs.kept import kept
from calc.catalogs.load import FOLDER, Catalogs, read_document, read_once
from calc.files.words.machines import take_machines
from calc.files.words.models import take_model
from calc.files.words.sentence import EDGES, NUMBER, Sentence, amount_of, numbered
from calc.job.columns import JOB_BY_NAME, SEVERAL
from calc.job.fields import JOB, OF_SERVING, OF_TRAINING, is_read
from calc.scenarios.inputs import INFERENCE_ONLY, TRAINING_ONLY, inputs_by_name

NAMED = {
    table: table.removesuffix("s")
    for table in ("optimizers", "precisions", "implementations", "objectives")
} | {"regions": "regions"}
LISTS = ("regions", "markets", "instance")


class Worded(NamedTuple):
    """Words as fields of a job: what each phrase set, what no phrase read, and what to ask."""

    columns: dict[str, Any]
    read: dict[str, str]  # phrase -> its columns and values
    unread: list[str]
    question: str

    @property
    def remark(self) -> str:
        """What was not understood, as a sentence; empty where everything was."""
        return f"Not understood, and left out: {', '.join(self.unread)}." if self.unread else ""


def read_words(text: str, catalogs: Catalogs) -> Worded:
    """The fields of a job that the words name, and the words that name nothing."""
    line = Sentence(text)
    _named_columns(line)
    question = take_model(line, catalogs)
    take_machines(line, catalogs)
    meant: dict[str, Any] = {}
    for entry in vocabulary()["amounts"]:
        for match in line.take(numbered(entry["pattern"])):
            line.put(match[0], **{entry["column"]: amount_of(match, entry)})
            meant = {**entry.get("sets", {}), **meant}
    for entry in vocabulary()["phrases"]:
        for match in line.take(entry["pattern"]):
            sets = {
                name: value.split("+") if name in LISTS else value
                for name, value in entry["sets"].items()
            }
            line.put(match[0], **sets)
    for column, names in _names(catalogs).items():
        for match in line.take("|".join(map(re.escape, names))):
            _put_name(line, match[0], column, names[match[0]])
    columns = _settled({**meant, **line.columns}, catalogs)
    for name in [
        name
        for name in columns
        if name in line.phrases and not is_read(name, {"goal": "tune", "method": "full", **columns})
    ]:
        del columns[name]
        line.unread.append(f"'{line.phrases[name]}'")
        line.read.pop(line.phrases[name], None)
    if line.stored and columns.get("goal") == "serve":
        columns.setdefault("precision", line.stored)
    return Worded(columns, line.read, [*line.unread, *_left(line.text)], question)


@read_once
def vocabulary() -> dict[str, Any]:
    """The phrases that name columns (catalogs/edited/vocabulary.yaml)."""
    return read_document(FOLDER, "vocabulary")


def _named_columns(line: Sentence) -> None:
    """Columns that are written out: batch=4, precision: bf16."""
    names = inputs_by_name() | JOB_BY_NAME | JOB
    line.text = re.sub(r"\bmodel\s?[=:]", "model ", line.text)  # whose name is read as any other
    for match in line.take(rf"(?P<name>{'|'.join(names)})\s?[=:]\s?(?P<value>[^\s,;]+)"):
        name, value = match["name"], match["value"]
        if (number := re.fullmatch(NUMBER.format(0), value)) and names[name].kind not in (
            "text",
            "choice",
        ):
            line.put(match[0], **{name: amount_of(number, {})})
        else:
            line.put(
                match[0],
                **{
                    name: value.split("+")
                    if name in LISTS or (name in SEVERAL and "+" in value)
                    else value
                },
            )


@kept()
def _names(catalogs: Catalogs) -> dict[str, dict[str, str]]:
    """Column -> the ids and names of its catalog in lower case, longest first -> id."""
    names = {}
    for table, column in NAMED.items():
        frame = getattr(catalogs, table)
        words = {str(one): str(one) for one in frame.index}
        words |= (
            {str(name).lower(): str(one) for one, name in frame["name"].items()}
            if "name" in frame
            else {}
        )
        names[column] = {word: words[word] for word in sorted(words, key=len, reverse=True)}
    return names


def _put_name(line: Sentence, phrase: str, column: str, one: str) -> None:
    """Set a column by a name of its catalog; several regions are a list."""
    if column == "regions":
        one_or_more = [*line.columns.pop("regions", []), one]
        line.put(phrase, regions=one_or_more)
    else:
        line.put(phrase, **{column: one})


def _settled(columns: dict[str, Any], catalogs: Catalogs) -> dict[str, Any]:
    """The columns with the goal that they imply, and lengths and tokens named by it."""
    trains = catalogs.implementations["trains"].get(columns.get("implementation"), True)
    if columns.keys() & {*OF_TRAINING, *TRAINING_ONLY} - {"sequence_tokens", "train_tokens"}:
        columns.setdefault("goal", "tune")
    elif columns.keys() & {*OF_SERVING, *INFERENCE_ONLY} - {"context_tokens"} or not (
        trains and _is_trained(columns, catalogs)
    ):
        columns.setdefault("goal", "serve")
    serves = columns.get("goal") == "serve"
    if not serves and "context_tokens" in columns:
        columns["sequence_tokens"] = columns.pop("context_tokens")
    if "train_tokens" in columns and (serves or columns.get("goal") == "train"):
        tokens = columns.pop("train_tokens")
        columns |= {"tokens_total": f"{tokens:.15g}"} if serves else {"run_tokens": tokens}
    return columns


def _is_trained(columns: dict[str, Any], catalogs: Catalogs) -> bool:
    """Whether all weights can be trained in the precision; where none is named they can."""
    return bool(catalogs.precisions["trains"].get(columns.get("precision", ""), True))


def _left(text: str) -> list[str]:
    """The stretches of words that nothing has read, in quotes; silent words alone say nothing."""
    silent = set(vocabulary()["silent"].split())
    stretches: list[str] = []
    words: list[str] = []
    for word in [*re.findall(r"\|+|[^\s|]+", text), "|"]:
        if word.startswith("|") or not (plain := word.strip(EDGES + "-+&/=~<>")) or plain in silent:
            stretches += [" ".join(words)] if words else []
            words = []
        else:
            words.append(plain)
    return [f"'{stretch}'" for stretch in stretches]
