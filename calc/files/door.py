"""The one door of every reader of foreign text: it gives an answer, or one sentence."""

import logging
import traceback
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from calc.catalogs.strict_yaml import CatalogError
from calc.files.configs.problem import ConfigProblem
from calc.files.oom.log_problem import LogProblem
from calc.models.huggingface.values import ConfigError
from calc.scenarios.problems import TableError

REFUSALS = (CatalogError, ConfigError, ConfigProblem, LogProblem, TableError)  # each a sentence
TOO_LARGE = (
    "The text takes more memory or is nested deeper than a reader allows; give the config, the "
    "command or the last lines of the log alone."
)
UNEXPECTED = (
    "The text has a form that its reader does not expect ({}); give the config, the command or "
    "the log alone, as its tool writes it."
)
LOGGER = logging.getLogger(__name__)

Reader = TypeVar("Reader", bound=Callable)


class ReadingProblem(ConfigProblem):
    """A text that its reader failed on, or that passed the limits of its process."""


def one_sentence(reader: Reader) -> Reader:
    """Decorator: whatever else a reader raises becomes a ReadingProblem.

    The log has the trace and the kind of the error. It has neither the text nor the error's words,
    which may quote the text.
    """

    @wraps(reader)
    def read(*arguments: Any, **named: Any) -> Any:
        try:
            return reader(*arguments, **named)
        except REFUSALS:
            raise
        except (MemoryError, RecursionError):
            raise ReadingProblem(TOO_LARGE) from None
        except Exception as error:
            trace = "".join(traceback.format_tb(error.__traceback__))
            LOGGER.error("A reader failed with %s:\n%s", type(error).__name__, trace)
            raise ReadingProblem(UNEXPECTED.format(type(error).__name__)) from None

    return cast(Reader, read)
