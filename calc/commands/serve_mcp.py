"""`python -m calc serve-mcp`: the four tools of an agent, over stdin and stdout (MCP)."""

import argparse
from collections.abc import Callable
from importlib.util import find_spec
from inspect import Signature, signature
from typing import Annotated, Any

from calc.catalogs.load import CatalogError, Catalogs
from calc.columns import GLOSSARY
from calc.commands.agent import answer_tool, compare_tool, estimate_tool, explain_tool
from calc.models.huggingface.config import ConfigError
from calc.scenarios.inputs import inputs_by_name
from calc.scenarios.problems import TableError
from calc.search.inputs import JOB_BY_NAME

MISSING = "serve-mcp needs the package mcp, which is not installed: make agent."
INSTRUCTIONS = (
    "GPU memory, AWS cost and time of training and serving language models. `answer` says what to rent for a job, `estimate` what one "
    "setting takes, `compare` how two differ, `explain` why a run was out of memory. Say the job in words; figures come with their range "
    "and source, and what was not understood is named."
)
SCENARIO = (  # columns that have a type of their own; any other column of a scenario is taken too
    *("work", "model", "tuning", "precision", "lora_rank", "optimizer", "recompute", "attention", "implementation", "objective", "batch"),
    *("sequence_tokens", "prompt_tokens", "accumulation_steps", "gpus", "sharding", "tensor_parallel", "offload", "kv_precision"),
    *("gpu", "instance", "region", "train_tokens"),
)
JOB = (
    *("goal", "model", "method", "train_tokens", "people", "users", "requests_per_second", "context_tokens", "prompt_tokens"),
    *("answer_tokens", "fewest_bits", "regions", "markets", "usd_most", "usd_per_hour_most", "instance", "gpu", "gpus", "have"),
)
TOOLS: dict[str, tuple[Callable[..., str], tuple[str, ...]]] = {
    "estimate": (estimate_tool, SCENARIO),
    "answer": (answer_tool, JOB),
    "explain": (explain_tool, SCENARIO),
    "compare": (compare_tool, ()),
}
KINDS = {"count": "integer", "number": "number", "amount": "number"}
MEANINGS = {  # of columns of a job, which the glossary of results does not have
    "goal": "What is done with the model",
    "method": "How it is fine-tuned",
    "people": "People who use the service; a share of them is active at a time",
    "users": "Requests that are answered at once",
    "requests_per_second": "At the peak",
    "context_tokens": "Prompt and answer together",
    "answer_tokens": "Generated tokens of a request",
    "fewest_bits": "Narrowest weights that may be served",
    "regions": "AWS regions joined by +, or anywhere",
    "markets": "on-demand, spot or capacity-block, joined by +",
    "usd_most": "Budget: of the run, of a service a month",
    "usd_per_hour_most": "Budget of an hour",
    "have": "Machines that one has: 8 x a100-80gb-sxm, joined by +",
}


def main(_options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Answer an agent until its input ends."""
    if not find_spec("mcp"):
        raise TableError(MISSING)
    server(catalogs).run("stdio")
    return 0


def server(catalogs: Catalogs) -> Any:
    """The tools, their inputs typed by the glossary; errors are the command line's sentences."""
    from mcp.server import MCPServer

    tools = MCPServer("headroom", instructions=INSTRUCTIONS, log_level="WARNING")
    for name, (tool, columns) in TOOLS.items():
        tools.add_tool(_typed(tool, columns, catalogs), name=name, description=tool.__doc__, structured_output=False)
    return tools


def _typed(tool: Callable[..., str], names: tuple[str, ...], catalogs: Catalogs) -> Callable[..., Any]:
    """The tool on these catalogs, its columns described by name, type and choices."""
    from mcp.types import CallToolResult, TextContent
    from pydantic import WithJsonSchema

    def call(**inputs: Any) -> Any:
        try:
            return tool(catalogs, **inputs)
        except (ValueError, CatalogError, ConfigError) as error:
            return CallToolResult(content=[TextContent(type="text", text=str(error))], is_error=True)

    columns = Annotated[dict[str, Any] | None, WithJsonSchema(_schema(names))]
    parameters = [parameter for name, parameter in signature(tool).parameters.items() if name != "catalogs"]
    typed = [parameter.replace(annotation=columns) if parameter.name == "columns" else parameter for parameter in parameters]
    call.__signature__ = Signature(typed)  # type: ignore[attr-defined]
    return call


def _schema(names: tuple[str, ...]) -> dict[str, Any]:
    """Columns by the glossary; what is wrong in them the engine says in its own sentence."""
    columns = JOB_BY_NAME | inputs_by_name()
    properties: dict[str, dict[str, Any]] = {}
    for name in names:
        choices = [choice for choice in columns[name].choices if choice]
        more = {"enum": choices} if choices else {}
        about = MEANINGS.get(name) or GLOSSARY[name].meaning
        properties[name] = {"type": KINDS.get(columns[name].kind, "string"), "description": about, **more}
    others = "Any other column of a scenario or a job is taken too."
    return {"type": "object", "description": others, "properties": properties, "additionalProperties": {"type": ["string", "number"]}}
