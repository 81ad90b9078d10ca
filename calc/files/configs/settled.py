"""What the files of a run settle: columns and parts, their sources, and gaps."""

from dataclasses import dataclass, field
from typing import Any

from calc.files.configs.documents import CONFIG, LAUNCH, Reading
from calc.files.configs.fields import Field
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.special import SPECIAL
from calc.files.configs.values import OPEN, NoEqual, as_word, is_off, read_value


@dataclass
class Settled:
    """Columns and parts as the files settle them, with the source of each.

    `values`: column or part -> value; `fields`: -> its field; `made_of`: -> the parts of its rule;
    `left`: named, but without a value of its own.
    """

    values: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    made_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    explicit: set[str] = field(default_factory=set)
    defaulted: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)
    unused: dict[str, None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def matches(self, part: str, wanted: str) -> bool:
        """Whether the part has one of the wanted values (a|b; - where it is not said)."""
        return str(self.values.get(part, "-")) in wanted.split("|")

    def default(self, meaning: Field, tool: str) -> None:
        """The tool's own value of a field that no file names."""
        value = SPECIAL[meaning.read](meaning.default) if meaning.read in SPECIAL else read_value(meaning, meaning.default, tool)
        parts = value if isinstance(value, dict) else {meaning.to: value}
        for name, setting in parts.items():
            if setting is not None and name not in self.values:
                self.values[name], self.fields[name] = setting, tool
                self.defaulted.add(name)

    def put(self, name: str, value: Any, source: str, reading: Reading) -> None:
        """Set a value of a file; where two files differ the higher one counts, with a problem."""
        if name in self.explicit:
            if str(self.values[name]) != str(value):
                if reading.rank == self.ranks[name] or min(reading.rank, self.ranks[name]) >= CONFIG:
                    self.problems.append(
                        f"{reading.file}, {source}: {value} here and {self.values[name]} in {self.files[name]}; "
                        f"{self.values[name]} was taken, make them equal."
                    )
                else:
                    self.unused[source] = None
            return
        self.values[name], self.fields[name], self.ranks[name], self.files[name] = value, source, reading.rank, reading.file
        self.explicit.add(name)
        self.left.discard(name)


def settle_reading(settled: Settled, reading: Reading, others: frozenset[str]) -> None:
    """Settle every field of a reading; `others` are the tools of the other files."""
    for name, value in reading.parts.items():
        if name in ("nodes", "gpus_per_node"):
            if not str(value).isdigit() or not int(value):
                settled.problems.append(f"{reading.file}, {name}: {str(value)[:40]} is no number of {name}; write it.")
                continue
            value = int(value)
        settled.put(name, value, name, reading)
    if reading.tool is None:
        settled.unused |= dict.fromkeys(reading.fields)
        return
    seen: dict[int, str] = {}
    for name, value in reading.fields.items():
        meaning = reading.tool.fields.get(name)
        if meaning is None:
            if not reading.tool.is_idle(name):
                settled.unused[name] = None
            continue
        if id(meaning) in seen and meaning.name != "flash_attention":
            settled.problems.append(f"{reading.file}: {seen[id(meaning)]} and {name} are the same field; keep one of the two.")
            continue
        seen[id(meaning)] = name
        try:
            _take(settled, reading, meaning, name, value, others)
        except NoEqual:
            settled.unused[name] = None
            if meaning.to not in settled.explicit:
                settled.left.add(meaning.to)
        except ConfigProblem as error:
            settled.problems.append(str(error))
            if meaning.to not in settled.explicit:
                settled.left.add(meaning.to)


def _take(settled: Settled, reading: Reading, meaning: Field, name: str, value: Any, others: frozenset[str]) -> None:
    if as_word(value) in meaning.idle_at:
        return
    if meaning.read == "open":
        if not is_off(value):
            settled.unused[name] = None
            for part, setting in meaning.sets.items():
                settled.put(part, setting, name, reading)
        return
    for part, setting in meaning.sets.items():
        settled.put(part, setting, name, reading)
    if meaning.read == "document":
        if value in (None, "", False) or as_word(value) == "null":
            return
        if meaning.to not in others:
            settled.unused[name] = None
            settled.put(meaning.to, "named", name, reading)
        return
    where = f"{reading.file}, {name}"
    read = SPECIAL[meaning.read](value) if meaning.read in SPECIAL else read_value(meaning, value, where)
    if isinstance(read, dict):
        for part, setting in read.items():
            settled.put(part, setting, name, reading)
        return
    if read is not None:
        settled.put(meaning.to, read, name, reading)
    elif meaning.read == "steps" or (meaning.read == "words" and as_word(value) in meaning.words):
        return
    elif value is not None and as_word(value) == "auto" and reading.rank == LAUNCH:
        return  # the trainer's own
    else:
        if not isinstance(value, int | float | None) and as_word(value) not in OPEN:
            settled.unused[name] = None
        if meaning.to not in settled.explicit:
            settled.left.add(meaning.to)
