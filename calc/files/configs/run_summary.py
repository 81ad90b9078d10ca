"""Summary of a run's files: what was read, what is assumed, and what is not counted."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from calc.columns import GLOSSARY
from calc.cost.markets import MARKETS
from calc.files.configs.common_facts import SHARED
from calc.files.configs.field_report import Line
from calc.files.configs.fields import Field, Tool, field_catalog, tools
from calc.files.configs.free_shares import shares_of_free
from calc.files.configs.run_settings import STAGE
from calc.files.configs.script_asides import IF, LOAD, LOOP, OF_FLAGS, SWITCHED_OFF, UNREAD
from calc.files.configs.values import whole
from calc.mappings import Json
from calc.say.numbers import is_missing, with_capital
from calc.say.reading import LONGEST_ITEM, reading_lines
from calc.scenarios.inputs import BY_NAME

QUIET = ("work", "scenario", "implementation")  # columns that the first words say
MATTERS = {  # what a reader must know is assumed
    "training": (
        *("gpus", "sequence_tokens", "batch", "precision", "tuning", "sharding", "recompute"),
        *("optimizer", "lora_rank", "accumulation_steps", "completion_tokens", "generations"),
    ),
    "inference": ("gpus", "sequence_tokens", "batch", "precision", "memory_utilization"),
}
NO_CARD = "no GPU type is in the file: which GPU"
SIZED_CARD = re.compile(r"(?P<family>\w+)-(?P<gigabytes>\d+)gb(?P<form>.*)")
CARD_MEMORY = "{} GB of memory on the card, since {} names none: choose another card (gpu)"
NO_PRECISION = "no precision is in the file: which (precision)"
FORMAT = re.compile(r"(?:.*[._])?(?:bf16|fp16|(?:torch_|model_|weight_)?dtype)")
SAYS_FORMAT = re.compile(r"(?i)true|(?:torch\.)?(?:bfloat16|bf16|float16|fp16|half|float32|fp32)")
OPEN_PRECISION = (
    "{} leaves open whether it is of the weights or of the arithmetic: which (precision)"
)
NO_AMOUNT = "the amount of work is not in the file{}: how many tokens (train_tokens)"
EPOCHS = (
    *("num_train_epochs", "num_epochs", "epochs", "epoch", "total_epochs", "max_epochs"),
    "total_episodes",
)
AMOUNTS = (
    *(*EPOCHS, "max_steps_per_epoch", "max_samples", "max_train_samples", "max_steps"),
    *("max_duration", "train_steps", "total_steps", "num_steps", "steps", "max_iters"),
)
NO_VALUE = ("null", "[]", "{}")
UNSET = ("", "null", "none", "-1", "0")
NODES, PER_NODE = ("nodes", "num_nodes", "nnodes"), "{} GPUs on each node"
OWN_MEMORY = "the memory of {}, since {} has no estimate of its own"
COPIES = "{} replicas: the figures are of one"
SPOT = "Spot is asked for: the price is On-Demand's unless you choose Spot"
MANAGED = "SageMaker runs it: the price is EC2's On-Demand unless you choose SageMaker's"
SPOT_TOO = "Spot is allowed beside On-Demand: the price is On-Demand's unless you choose Spot"
GPU_SPAN = "{} GPUs are allowed: the figures are of the fewest"
SLICE = "a slice of a card, MIG {}: the figures are of the whole card (changes memory)"
SHARED_GPUS = "GPU {} shared with another service of the file, whose memory is not added"
LOAD_TARGET = "{}: no load is planned from it, say it in words"
REGIONS = "regions {}: choose one (region)"
TIME_LIMIT = "{}: the run may end there, and no plan is held to it (hours_most)"
PRICE_LIMIT = "{}: no plan is held to it (usd_per_hour_most)"
BY_FLAGS = "the defaults of the script's own flags, since no command is given ({})"
BY_COMMENT = "the machine by a comment: {}"
OFF_BY_DEFAULT = "{} is off by default: add the command that starts the script ({})"
TERMS = {  # part of a run -> what is said of it
    "spot": SPOT,
    "spot_too": SPOT_TOO,
    "regions_named": REGIONS,
    "gpus_named": GPU_SPAN,
    "slice": SLICE,
    SHARED: SHARED_GPUS,
    "load_target": LOAD_TARGET,
    "time_limit": TIME_LIMIT,
    "price_limit": PRICE_LIMIT,
}
UNDECIDED = "{}: not decided here, both branches are read ({})"
LOOPED = "{}: the figures are of one run, the first"
NOT_READ = "{}: nothing in it was read"
LOADS = "say in words beside the file the load of a {}"
UNUSED_GPUS = "{} GPUs are asked for and {} are used"
TOO_FEW_GPUS = "the command takes {} GPUs, and only {} are asked for"
SURE, MAYBE, UNKNOWN = "changes memory", "may change memory or speed", "not known here"
ABSENT_CONFIG = "not here, may hold settings: add it"
CONFIG = re.compile(r"[\w./-]+\.(?:ya?ml|toml|json)")
OF_SIZE = re.compile(  # words in the names of fields that are likely to change memory
    r"batch|len|token|gpu|node|device|rank|parallel|shard|offload|quant|bit|type|precision|optim"
    r"|checkpoint|fsdp|zero|deepspeed|stage|accum|pack|lora|peft|adapter|freeze|layer|method|mode"
)
ABSENT = "not here, may shard the run or move it to host memory: add it"
LOWERS, AS_ADAMW = "lowers memory", "counted as AdamW, whose state is the largest"
EFFECTS = {"memory": SURE, "less memory": LOWERS, "": MAYBE}
SENTENCES = re.compile(r"(?<=\.) (?=[A-Z])")
CUT = "..."  # where a long value is cut
OPTIMIZERS = ("optimizer", "optim")  # columns and parts that a field settles
OF_MEMORY = (
    *("precision", "quantized", "tuning", "sharding", "strategy", "recompute", "kv_precision"),
    "offload",
)


class RunSummary(NamedTuple):
    """The items of the three lines."""

    understood: tuple[str, ...]
    assumed: tuple[str, ...]
    not_counted: tuple[str, ...]
    replicas: int = 1  # of a service, whose figures are of one
    market: str = ""  # that the files ask for

    @property
    def lacks_memory(self) -> bool:
        """Return whether a field that is known to change the memory is not counted."""
        return any(item.endswith(f"({SURE})") for item in self.not_counted)

    @property
    def overstates(self) -> bool:
        """Return whether a field that lowers the memory is not counted, and none that raises it."""
        return not self.lacks_memory and any(
            item.endswith((f"({LOWERS})", f"({AS_ADAMW})", f"({ABSENT})"))
            for item in self.not_counted
        )

    def on_market(self) -> "RunSummary":
        """Return the summary of a run whose price is that of the market that its files ask for."""
        name = MARKETS[self.market].label
        others = tuple(item for item in self.not_counted if item not in (SPOT, MANAGED))
        understood = (*self.understood, f"market {with_capital(name)}")
        return self._replace(understood=understood, not_counted=others)

    def lines(self) -> list[str]:
        """The items as lines of text."""
        return reading_lines(self.understood, self.assumed, self.not_counted)


def summary_of(
    run: Mapping[str, str],
    lines: Sequence[Line],
    estimated: Json,
    said: Json,
) -> RunSummary:
    """Return what a run's files say, with the estimate's values for what they leave open.

    `run`: the row of the import; `said`: columns that were given beside the files.
    """
    return RunSummary(
        _understood(run, lines),
        _assumptions(run, lines, estimated, said),
        _unused_fields(run, lines),
        replicas_of(lines) if run["work"] == "inference" else 1,
        _market(run, lines),
    )


def _market(run: Mapping[str, str], lines: Sequence[Line]) -> str:
    """The market that the files ask for: Spot, or SageMaker's where it is no HyperPod."""
    fields = {line.field for line in lines}
    if "spot" in fields:
        return "spot"
    is_managed = "sagemaker" in fields and "hyperpod" not in f"{run['source_tool']} {fields}"
    work = "hosting" if run["work"] == "inference" else "training"
    return f"sagemaker-{work}" if is_managed else ""


def phrase(column: str, value: Any) -> str:
    """A column with its value: context 2048 tokens."""
    quantity = GLOSSARY[column]
    unit = f" {quantity.unit}" if quantity.unit == "tokens" else ""
    number = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{_lower(quantity.label)} {number}{unit}"


def _lower(label: str) -> str:
    """A label inside a sentence: GPUs and KV cache keep their capitals."""
    word = label.split()[0]
    return label if word[1:] != word[1:].lower() else label[:1].lower() + label[1:]


def _understood(run: Mapping[str, str], lines: Sequence[Line]) -> tuple[str, ...]:
    """The tool of a run and the settings that were read from its files, in words."""
    read = {name for line in lines if line.standing == "read" for name in line.columns}
    names = [
        tools()[name].name for name in run["source_tool"].split("+") if name and name in tools()
    ]
    return (
        " with ".join(names) or "no tool",
        *(phrase(name, run[name]) for name in BY_NAME if name in read and name not in QUIET),
    )


def _assumptions(
    run: Mapping[str, str],
    lines: Sequence[Line],
    estimated: Json,
    said: Json,
) -> tuple[str, ...]:
    """Defaults of the tool and of this planner that decide the answer."""
    defaults, left = run["source_defaults"].split("+"), run["not_said"].split("+")
    work = run["work"] or "training"
    named = [name for name in MATTERS[work] if name in (*defaults, *left) and name not in said]
    items = [
        phrase(name, run[name] or estimated[name])
        for name in named
        if not is_missing(run[name] or estimated.get(name))
    ]
    is_open = "precision" in named and is_missing(run["precision"] or estimated.get("precision"))
    is_open = is_open and work == "training"  # a service has that of its checkpoint
    items += [_no_precision(lines)] if is_open else []
    items += [*_per_node(run, lines), *_own_memory(run)]
    if not {"gpu", "instance"} & said.keys() and not run["gpu"] and not run["instance"]:
        items.append(NO_CARD)
    items += [*_memory_of_card(run, lines), *_by_hand(lines)]
    items += SENTENCES.split(run["note"]) if run["note"] else []
    if work == "training" and not run["train_tokens"] and "train_tokens" not in said:
        amounts = [f"{one.field} {one.text}" for one in lines if _says_amount(one.field, one.text)]
        items.append(NO_AMOUNT.format(f" ({', '.join(amounts)})" if amounts else ""))
    return tuple(items)


def _no_precision(lines: Sequence[Line]) -> str:
    """The question after the precision, with the formats that the files do say."""
    said = [
        f"{one.field} {one.text}"
        for one in lines
        if FORMAT.fullmatch(one.field) and SAYS_FORMAT.fullmatch(one.text)
    ]
    return OPEN_PRECISION.format(", ".join(said)) if said else NO_PRECISION


def _own_memory(run: Mapping[str, str]) -> list[str]:
    """Return whose memory is estimated, if it is not that of the run's own tool."""
    named = [tool for tool in run["source_tool"].split("+") if tool in tools()]
    engine = next((tool for tool in named if not tools()[tool].launches), "")
    is_default = "implementation" in run["source_defaults"].split("+")
    is_stand_in = is_default and run["implementation"] == "vllm"
    if is_stand_in and engine and not run["inference_engine"]:
        return [OWN_MEMORY.format("vLLM", tools()[engine].name)]
    if engine and run["objective"] and not _is_own(run["implementation"], tools()[engine]):
        other = tools().get(run["implementation"].replace("-", "_"))
        name = other.name if other else run["implementation"]
        return [OWN_MEMORY.format(name, tools()[engine].name)]
    return []


def _by_hand(lines: Sequence[Line]) -> Iterator[str]:
    """Yield what a script's own flags say by default, and what a comment says of the machine."""
    for line in lines:
        if line.standing == "aside" and line.field.startswith(f"{OF_FLAGS} "):
            yield BY_FLAGS.format(line.field.partition(" ")[2])
        if line.field == "comment" and line.standing == "read":
            yield BY_COMMENT.format(line.text)


def _says_amount(name: str, value: str) -> bool:
    """Return whether a field says how long a run is, if not in tokens."""
    is_said = value.lower() not in UNSET and not value.startswith("$")
    return name.rpartition(".")[2] in AMOUNTS and is_said


def _memory_of_card(run: Mapping[str, str], lines: Sequence[Line]) -> list[str]:
    """The memory of a card that is made with several, where its files name none: a100.

    SkyPilot's A100 is the one of 40 GB by definition.
    """
    card = SIZED_CARD.match(run["gpu"])
    texts = [line.text for line in lines if "gpu" in line.columns]
    if not card or not texts or "skypilot" in run["source_tool"]:
        return []
    is_open = len(_memory_sizes(card["family"], card["form"])) > 1
    names_memory = any(card["gigabytes"] in text for text in texts)
    return [CARD_MEMORY.format(card["gigabytes"], texts[0])] if is_open and not names_memory else []


def _memory_sizes(family: str, form: str) -> set[str]:
    """The memory of the cards of a family and a form: 40 and 80 of a100 on SXM. [GB]"""
    cards = map(SIZED_CARD.match, field_catalog().cards.values())
    return {
        card["gigabytes"]
        for card in cards
        if card and (card["family"], card["form"]) == (family, form)
    }


def _is_own(implementation: str, tool: Tool) -> bool:
    """Return whether the memory of a run is estimated as that of its own tool."""
    own = tool.id.replace("_", "-")
    return own.startswith(implementation) or implementation == tool.sets.get("software")


def replicas_of(lines: Sequence[Line]) -> int:
    """The replicas of a service that its files ask for."""
    return whole(next((line.text for line in lines if line.field == "copies"), "1")) or 1


def _most_replicas(lines: Sequence[Line]) -> int:
    """The replicas to which a service may grow."""
    return whole(next((line.text for line in lines if line.field == "most_copies"), "1")) or 1


def _per_node(run: Mapping[str, str], lines: Sequence[Line]) -> list[str]:
    """Return the GPUs assumed per node, if the files give only the number of nodes."""
    sources = [line for line in lines if "gpus" in line.columns]
    if len(sources) != 1 or sources[0].field.rpartition(".")[2] not in NODES:
        return []
    if not (sources[0].text.isdigit() and run["gpus"].isdigit()):
        return []
    return [PER_NODE.format(int(run["gpus"]) // int(sources[0].text))]


def _effect(name: str, field: Field | None, value: str, work: str) -> str:
    """The effect on memory of a field that is not counted, as far as it is known."""
    if field is None and CONFIG.fullmatch(value) and "data" not in name:
        return ABSENT_CONFIG
    if field is None:
        return MAYBE if "." in name else UNKNOWN
    if field.to in OPTIMIZERS:
        return AS_ADAMW
    if field.read == "document" and not STAGE.search(value):
        return ABSENT
    if field.to == "lora_rank" and work != "inference":
        return LOWERS  # of a run that trains every weight
    return SURE if field.to in OF_MEMORY else EFFECTS[field.changes]


def _with_effect(name: str, value: str, effect: str) -> str:
    """A field with its value and its effect; a long value is cut, so that the effect is shown."""
    left = max(LONGEST_ITEM - len(f"{name}  ({effect})"), len(CUT))
    plain = " ".join(value.split())
    short = plain if len(plain) <= left else f"{plain[: left - len(CUT)]}{CUT}"
    return f"{name} {short} ({effect})" if short else f"{name} ({effect})"


def _unused_fields(run: Mapping[str, str], lines: Sequence[Line]) -> tuple[str, ...]:
    """The unused fields of the files with their values, those that change memory first."""
    values = {line.field: line.text for line in lines}
    fields = {
        name: field
        for tool in run["source_tool"].split("+")
        if tool in tools()
        for name, field in tools()[tool].fields.items()
    }
    here = {PurePath(one).name for one in run["source_file"].split("+")}
    items: list[tuple[int, str]] = []
    for name in filter(None, run["unused"].split("+")):
        value = values.get(name, "")
        if _says_amount(name, value) or (name not in fields and value in NO_VALUE):
            continue  # the question on the amount of work names it
        if CONFIG.fullmatch(value) and PurePath(value).name in here:
            continue
        effect = _effect(name, fields.get(name), value, run["work"])
        is_likely = effect not in (MAYBE, UNKNOWN)
        place = 0 if is_likely else 1 if OF_SIZE.search(name.rpartition(".")[2]) else 2
        items.append((place, _with_effect(name, value, effect)))
    said = {line.field: line.text for line in lines}
    terms = TERMS | ({"sagemaker": MANAGED} if _market(run, lines).startswith("sagemaker") else {})
    items += [(2, text.format(said[name])) for name, text in terms.items() if name in said]
    items += _asides_that_matter(run, lines)
    items += shares_of_free(run, lines, SURE)
    items += _gpus_and_copies(run, lines) if run["work"] == "inference" else []
    return tuple(text for _, text in sorted(items, key=lambda item: item[0]))


def _gpus_and_copies(run: Mapping[str, str], lines: Sequence[Line]) -> Iterator[tuple[int, str]]:
    """Yield the replicas of a service, and the GPUs that it asks for beside those it takes."""
    replicas, most = replicas_of(lines), _most_replicas(lines)
    if max(replicas, most) > 1:
        yield 2, COPIES.format(f"{replicas} to {most}" if most > replicas else replicas)
    asked = next((line.text for line in lines if line.field == "asked_gpus"), "")
    if not asked.isdigit() or not run["gpus"].isdigit():
        return
    nodes = next((line.text for line in lines if line.field == "nodes"), "1")
    total = int(asked) * (whole(nodes) or 1)
    on_nodes = max(replicas, most) if total > int(asked) else 1  # nodes may hold the replicas
    if total > int(run["gpus"]) * on_nodes:
        yield 2, UNUSED_GPUS.format(total, run["gpus"])
    elif total < int(run["gpus"]):
        yield 0, TOO_FEW_GPUS.format(run["gpus"], total)


def _asides_that_matter(run: Mapping[str, str], lines: Sequence[Line]) -> Iterator[tuple[int, str]]:
    """Yield the tests that nothing decides, and the loads that a benchmark sends to a server."""
    for line in lines:
        begin = line.field.partition(" ")[0] if line.standing == "aside" else ""
        if begin == IF:
            yield 2, UNDECIDED.format(line.field, MAYBE)
        elif begin == SWITCHED_OFF:
            test = line.field.removeprefix(f"{SWITCHED_OFF} ")
            yield 0, OFF_BY_DEFAULT.format(test, MAYBE)
        elif begin == UNREAD:
            yield 2, NOT_READ.format(line.field.removeprefix(f"{UNREAD} "))
        elif begin == LOOP:
            yield 2, LOOPED.format(line.field)
        elif begin == LOAD and run["work"] == "inference":
            yield 2, LOADS.format(line.field)
