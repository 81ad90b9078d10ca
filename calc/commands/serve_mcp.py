"""`python -m calc serve-mcp`: the four tools of an agent, over stdin and stdout (MCP)."""

import argparse
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any

from calc.catalogs.load import CatalogError, Catalogs
from calc.catalogs.strict_yaml import read_strictly
from calc.columns import GLOSSARY
from calc.commands.agent import answer_tool, compare_tool, estimate_tool, explain_tool
from calc.job.columns import JOB_BY_NAME
from calc.mappings import Json
from calc.models.huggingface.config import ConfigError
from calc.scenarios.inputs import inputs_by_name
from calc.scenarios.problems import TableError

MISSING = "serve-mcp needs the package mcp, which is not installed: make agent."
TOOLS: dict[
    str, tuple[Callable[..., str], str]
] = {  # a tool, and the list of its columns in agent_tools.yaml
    "estimate": (estimate_tool, "scenario"),
    "answer": (answer_tool, "job"),
    "explain": (explain_tool, "scenario"),
    "compare": (compare_tool, ""),
}
KINDS = {"count": "integer", "number": "number", "amount": "number"}


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """Add nothing: `serve-mcp` has no arguments of its own."""


def main(_options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Answer an agent until its input ends."""
    if not find_spec("mcp"):
        raise TableError(MISSING)
    server(catalogs).run("stdio")
    return 0


@cache
def _agent_tools() -> Json:
    """Return the descriptions of the tools for the agent: agent_tools.yaml."""
    path = Path(__file__).with_name("agent_tools.yaml")
    return read_strictly(path.read_text("utf-8"), path.name)


def server(catalogs: Catalogs) -> Any:
    """The tools, their inputs typed by the glossary; errors are the command line's sentences."""
    from mcp.server import MCPServer

    words = _agent_tools()
    tools = MCPServer("headroom", instructions=words["instructions"], log_level="WARNING")
    for name, (tool, columns) in TOOLS.items():
        parameters = _describe_columns(tool, words.get(columns, ()), catalogs)
        tools.add_tool(parameters, name=name, description=tool.__doc__, structured_output=False)
    return tools


def _describe_columns(
    tool: Callable[..., str], names: Sequence[str], catalogs: Catalogs
) -> Callable[..., Any]:
    """The tool on these catalogs, its columns described by name, type and choices."""
    from mcp.types import CallToolResult, TextContent
    from pydantic import WithJsonSchema

    def call(**inputs: Any) -> Any:
        try:
            return tool(catalogs, **inputs)
        except (ValueError, CatalogError, ConfigError) as error:
            return CallToolResult(
                content=[TextContent(type="text", text=str(error))], is_error=True
            )

    columns = Annotated[Json | None, WithJsonSchema(_schema(names))]
    parameters = [
        parameter for name, parameter in signature(tool).parameters.items() if name != "catalogs"
    ]
    typed = [
        parameter.replace(annotation=columns) if parameter.name == "columns" else parameter
        for parameter in parameters
    ]
    call.__signature__ = Signature(typed)  # type: ignore[attr-defined]
    return call


def _schema(names: Sequence[str]) -> Json:
    """Columns by the glossary; what is wrong in them the engine says in its own sentence."""
    columns = JOB_BY_NAME | inputs_by_name()
    properties: dict[str, Json] = {}
    for name in names:
        choices = [choice for choice in columns[name].choices if choice]
        more = {"enum": choices} if choices else {}
        about = _agent_tools()["meanings"].get(name) or GLOSSARY[name].meaning
        properties[name] = {
            "type": KINDS.get(columns[name].kind, "string"),
            "description": about,
            **more,
        }
    others = "Any other column of a scenario or a job is taken too."
    return {
        "type": "object",
        "description": others,
        "properties": properties,
        "additionalProperties": {"type": ["string", "number"]},
    }
