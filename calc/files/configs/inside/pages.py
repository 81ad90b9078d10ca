"""The blocks of code on a page of text: a README, a tutorial, an issue."""

import re
from pathlib import PurePath

SUFFIXES = (".md", ".mdx", ".markdown")
FENCE = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[\w.+-]{0,40})")
FORMS = {
    **dict.fromkeys(("yaml", "yml"), ".yaml"),
    **dict.fromkeys(("json", "jsonc"), ".json"),
    **dict.fromkeys(("python", "py"), ".py"),
    **dict.fromkeys(("hcl", "terraform", "tf"), ".tf"),
    **dict.fromkeys(("typescript", "ts", "javascript", "js"), ".ts"),
    **dict.fromkeys(("bash", "sh", "shell", "console", "zsh", "text", ""), ".sh"),
    "toml": ".toml",
}
MAPPING = re.compile(
    r"\s*(?:#[^\n]*\n\s*|---\s*\n)*[\w./-]{1,60}:(?:[ \t]+[^\n]*)?(?:\n|$)"
)  # the first line of YAML
PROMPT = re.compile(r"^[ \t]*\$[ \t]+", re.M)
MOST_BLOCKS = 60


def is_page(file: str) -> bool:
    """Return whether a file is a page of text, by its name."""
    return PurePath(file.lower()).suffix in SUFFIXES


def blocks_of(text: str, file: str) -> list[tuple[str, str]]:
    """The blocks of a page: (text, name), those in YAML as the documents of one text."""
    manifests: list[str] = []
    blocks: list[tuple[str, str]] = []
    for place, (language, lines) in enumerate(_fenced(text)[:MOST_BLOCKS]):
        form, code = FORMS.get(language, ""), "\n".join(lines)
        form = ".yaml" if not language and MAPPING.match(code) else form
        if form == ".yaml":
            manifests.append(code)
        elif form:
            blocks.append((PROMPT.sub("", code), f"{file} block {place + 1}{form}"))
    joined = [("\n---\n".join(manifests), f"{file} blocks.yaml")] if len(manifests) > 1 else []
    return [*joined, *((code, f"{file} block.yaml") for code in manifests), *blocks]


def prose_of(text: str) -> list[str]:
    """The lines of a page outside of its blocks of code."""
    lines, fence = [], ""
    for line in text.split("\n"):
        match = FENCE.match(line)
        if not fence and match:
            fence = match["fence"]
        elif fence and line.strip(" \t") == fence:
            fence = ""
        elif not fence:
            lines.append(line)
    return lines


def _fenced(text: str) -> list[tuple[str, list[str]]]:
    """The blocks between fences: (language, lines), without the depth of their fence."""
    blocks: list[tuple[str, list[str]]] = []
    fence, depth = "", 0
    for line in text.split("\n"):
        match = FENCE.match(line)
        if not fence and match:
            fence, depth = match["fence"], match.start("fence")
            blocks.append((match["language"].lower(), []))
        elif fence and line.strip(" \t") == fence:
            fence = ""
        elif fence:
            blocks[-1][1].append(line[depth:] if not line[:depth].strip() else line)
    return blocks
