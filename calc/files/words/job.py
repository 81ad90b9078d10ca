"""The job of what a text says: facts that no column of a job takes become those that do."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from calc.catalogs.load import Catalogs
from calc.cost.markets import USUAL_MARKETS
from calc.files.words.facts import as_counted
from calc.files.words.request_reading import Question, RequestReading
from calc.files.words.word_counts import TOKENS_A_WORD
from calc.job.cells import listed
from calc.job.columns import JOB_BY_NAME
from calc.say.place import instances_in_words

WINDOWS_AN_HOUR = 120  # of 30 seconds, the length of sound that Whisper takes at a time
REGION, GIB = "us-east-1", 2**30
MEMORY_RATIO = (0.88, 1.03)  # of the printed GB: 24 GB are 22.5 to 24 GiB
ANSWER_TOKENS = float(str(JOB_BY_NAME["answer_tokens"].default))
FIRST_TOKEN_RATIO = 0.2  # of the time of a whole answer
LEAST = re.compile(r"least|more than|>|≥|minimum|mindestens|au moins|al menos|至少|or more")
CARD_COUNTS = (1, 2, 4, 8, 16, 32, 64)
LONGEST_NUMBER = 30  # digits


def job_columns(reading: RequestReading, catalogs: Catalogs) -> RequestReading:
    """Return the reading with columns of a job alone; what no job can express is asked."""
    job = _Job(reading, catalogs)
    words = dict(reading.words)
    for name in list(job.columns):
        if name in job.readings:
            value = job.columns.pop(name)
            before = set(job.columns)
            job.readings[name](value)
            if name in words:
                words |= dict.fromkeys(job.columns.keys() - before, words[name])
    return replace(
        reading,
        columns=job.columns,
        words=words,
        assumed=(*reading.assumed, *job.assumed),
        questions=(*reading.questions, *job.questions),
        not_counted=(*reading.not_counted, *job.not_counted),
    )


class _Job:
    """Columns on the way to those of a job."""

    def __init__(self, reading: RequestReading, catalogs: Catalogs):
        self.columns, self.words, self.catalogs = (
            dict(reading.columns),
            reading.words,
            catalogs,
        )
        self.assumed: list[str] = []
        self.questions: list[Question] = []
        self.not_counted: list[str] = []
        self.readings: dict[str, Callable[[Any], None]] = {
            "excludes": self._excludes,
            "requests_total": self._requests,
            "audio_hours": self._audio_hours,
            "audio_hours_per_day": self._audio_a_day,
            "words_total": self._words,
            "request_seconds": self._request_seconds,
            "tokens_per_second": self._token_rate,
            "gpu_memory_gb": self._memory,
            "gpus_most": self._gpus_most,
            "quota_vcpus": self._quota,
            "gpu_hours_most": self._gpu_hours,
            "usd_per_million_tokens": self._per_million,
            "usd_paid_now": lambda value: self.not_counted.append(
                f"${value:,.10g} that you pay today"
            ),
            **dict.fromkeys(
                ("tokens_per_day", "tokens_per_month", "text_gigabytes"), _asked_already
            ),
            "solve": lambda value: self._solve(str(value)),
        }

    def _excludes(self, value: str) -> None:
        """Leave out the instances, markets or regions that a text rules out."""
        parts = set(str(value).split("+"))
        table = self.catalogs.instances
        names = [str(name) for name in table.index if not self._is_excluded(str(name), parts)]
        if len(names) < len(table) and "have" not in self.columns:
            chosen = listed(self.columns.get("instance")) or names
            self.columns["instance"] = [name for name in chosen if name in names]
        markets = listed(self.columns.get("markets")) or list(USUAL_MARKETS)
        if parts & {*USUAL_MARKETS, "spot"}:
            self.columns["markets"] = [market for market in markets if market not in parts]
        blocks = {
            "us": ("us-",),
            "eu": ("eu-central-1", "eu-north", "eu-south", "eu-west-1", "eu-west-3"),
            "europe": ("eu-",),
            "ap": ("ap-",),
        }
        regions = list(map(str, self.catalogs.regions.index))
        heads = tuple(
            head for part in parts for head in blocks.get(part, (part,) if part in regions else ())
        )
        if heads:
            chosen = listed(self.columns.get("regions")) or (
                [REGION] if not REGION.startswith(heads) else regions
            )
            self.columns["regions"] = [
                one
                for one in (regions if chosen == ["anywhere"] else chosen)
                if not one.startswith(heads)
            ]
        if any(part.startswith(("fp8", "int8", "nf4", "int4", "awq", "gptq")) for part in parts):
            self.columns.setdefault("fewest_bits", "16")

    def _is_excluded(self, name: str, parts: set[str]) -> bool:
        """Return whether an instance type is ruled out by its name, its family or its card."""
        family = name.partition(".")[0]
        card = str(self.catalogs.instances["gpu"][name])
        letters = family[: len(family) - len(family.lstrip("abcdefghijklmnopqrstuvwxyz"))]
        return bool({name, family, letters} & parts) or any(
            part in card.split("-") for part in parts
        )

    def _requests(self, value: float) -> None:
        answer = float(self.columns.get("answer_tokens", ANSWER_TOKENS))
        if "answer_tokens" not in self.columns:
            self.assumed.append(f"answers of {answer:,.0f} tokens")
        self.columns["tokens_total"] = f"{value * answer:.15g}"

    def _audio_hours(self, value: float) -> None:
        self.columns["examples"] = as_counted(value * WINDOWS_AN_HOUR)
        self.assumed.append(
            f"{value:,.10g} hours of sound as {value * WINDOWS_AN_HOUR:,.0f} windows of 30 seconds"
        )

    def _audio_a_day(self, value: float) -> None:
        self.columns["tokens_total"] = f"{value:.15g} hours"
        self.columns.setdefault("hours_most", 24)
        self.assumed.append("the sound of one day, done within a day")

    def _words(self, value: float) -> None:
        """Count words as tokens of a run, or as all that pass through a served model."""
        goal, tokens = self.columns.get("goal"), value * TOKENS_A_WORD
        if goal == "serve":
            self.columns["tokens_total"] = f"{round(tokens)} tokens"
        else:
            column = "run_tokens" if goal == "train" else "train_tokens"
            self.columns[column] = as_counted(tokens * float(self.columns.pop("epochs", 1)))
        self.assumed.append("4 tokens for 3 words")

    def _request_seconds(self, value: float) -> None:
        """Divide a limit on whole answers into limits on the first token and on the others."""
        first = float(
            self.columns.setdefault("first_token_seconds", as_counted(value * FIRST_TOKEN_RATIO))
        )
        answer = float(self.columns.get("answer_tokens", ANSWER_TOKENS))
        if first < value:
            self.columns.setdefault(
                "token_seconds", as_counted(float(f"{(value - first) / answer:.3g}"))
            )
        self.assumed.append(
            f"whole answers in {value:g} s as a first token within {first:g} s and the rest of "
            f"{answer:,.0f} tokens after it"
        )

    def _token_rate(self, value: float) -> None:
        answer = float(self.columns.get("answer_tokens", ANSWER_TOKENS))
        self.columns.setdefault("requests_per_second", as_counted(float(f"{value / answer:.6g}")))
        self.assumed.append(
            f"{value:g} tokens a second of all users, as answers of {answer:,.0f} tokens"
        )

    def _memory(self, value: float) -> None:
        """Choose the rented cards that have about so many GB, or as many; ask where none has."""
        least, most = MEMORY_RATIO
        if LEAST.search(self.words.get("gpu_memory_gb", "")):
            most = float("inf")
        memory = self.catalogs.gpus["memory_bytes"].astype(float) / (value * GIB)
        rented = set(self.catalogs.instances["gpu"])
        cards = [str(gpu) for gpu in memory.index[memory.between(least, most)] if gpu in rented]
        if cards:
            self.columns.setdefault("gpu", "+".join(cards))
        else:
            self._ask(
                "gpu",
                f"No GPU that AWS rents has {value:g} GB. Which GPU is meant?",
                "gpu_memory_gb",
            )

    def _gpus_most(self, value: float) -> None:
        self.columns.setdefault(
            "gpus", [count for count in (*CARD_COUNTS, int(value)) if count <= value]
        )

    def _gpu_hours(self, value: float) -> None:
        """Turn a limit in GPU-hours into hours, where the number of GPUs is known; else ask."""
        gpus = self.columns.get("gpus")
        if isinstance(gpus, int | float):
            self.columns.setdefault("hours_most", as_counted(value / gpus))
            self.assumed.append(f"{value:,.10g} GPU hours as {value / gpus:,.4g} hours of {gpus:g}")
        else:
            self._ask(
                "hours_most",
                f"A limit of {value:,.10g} GPU hours: on how many GPUs, or within how many hours?",
                "gpu_hours_most",
            )

    def _quota(self, value: float) -> None:
        vcpus = self.catalogs.instances["vcpus"].astype(float)
        chosen = listed(self.columns.get("instance")) or list(map(str, vcpus.index))
        self.columns["instance"] = [name for name in chosen if vcpus[name] <= value]
        self.columns.setdefault("instances_most", 1)
        self.assumed.append(f"one instance within {value:g} vCPUs")

    def _per_million(self, value: float) -> None:
        """Ask for the cost of a month in place of a price per million tokens."""
        self._ask(
            "usd_most",
            f"A limit of ${value:g} per million tokens cannot be planned for. "
            f"What may a month cost in USD?",
            "usd_per_million_tokens",
        )

    def _solve(self, what: str) -> None:
        """Point a question for the largest number to the command that answers it."""
        name = "users" if what == "users" else what
        self._ask(
            name,
            f"The text asks how many {name.replace('_', ' ')} fit. "
            f"`python -m calc solve {name}` finds that; or name a number here.",
            "solve",
        )

    def _ask(self, column: str, text: str, name: str) -> None:
        self.questions.append(Question(text, column, self.words.get(name, "")))


def _asked_already(_: object) -> None:
    """Nothing: the reader has asked about the amount."""


def read_phrases(reading: RequestReading, catalogs: Catalogs) -> Mapping[str, str]:
    """Phrase -> its columns and values, in words; a column that no phrase names by its name."""
    phrases: dict[str, list[str]] = {}
    for column, value in reading.columns.items():
        values = instances_in_words(listed(value), catalogs) if column == "instance" else value
        phrases.setdefault(reading.words.get(column, "") or column, []).append(
            f"{column} {_plain(values)}"
        )
    return {phrase: ", ".join(several) for phrase, several in phrases.items()}


def _plain(value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    words = [
        f"{one:,.10g}" if isinstance(one, int | float) else _grouped(str(one)) for one in values
    ]
    return "+".join(words if len(words) <= 3 else [*words[:3], "..."])


def _grouped(text: str) -> str:
    """A text as it is, but a whole number with its thousands grouped."""
    is_number = text.isdecimal() and len(text) <= LONGEST_NUMBER
    return f"{int(text):,}" if is_number else text
