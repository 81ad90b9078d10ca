"""The blocks of code on a page of text: a README, a tutorial, an issue."""

import re
from pathlib import PurePath

SUFFIXES = (".md", ".mdx", ".markdown")
FENCED = re.compile(
    r"^(?P<depth>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[\w.+-]*)[^\n]*\n"
    r"(?P<code>.*?)^[ \t]*(?P=fence)[ \t]*$",
    re.M | re.S,
)
FORMS = {
    **dict.fromkeys(("yaml", "yml"), ".yaml"),
    **dict.fromkeys(("json", "jsonc"), ".json"),
    **dict.fromkeys(("python", "py"), ".py"),
    **dict.fromkeys(("hcl", "terraform", "tf"), ".tf"),
    **dict.fromkeys(("typescript", "ts", "javascript", "js"), ".ts"),
    **dict.fromkeys(("bash", "sh", "shell", "console", "zsh", "text", ""), ".sh"),
    "toml": ".toml",
}
PROMPT = re.compile(r"^[ \t]*\$[ \t]+", re.M)
MOST_BLOCKS = 60


def is_page(file: str) -> bool:
    """Return whether a file is a page of text, by its name."""
    return PurePath(file.lower()).suffix in SUFFIXES


def blocks_of(text: str, file: str) -> list[tuple[str, str]]:
    """The blocks of a page: (text, name), those in YAML as the documents of one text."""
    manifests: list[str] = []
    blocks: list[tuple[str, str]] = []
    for place, match in enumerate(FENCED.finditer(text)):
        form = FORMS.get(match["language"].lower(), "")
        depth = len(match["depth"])
        code = "\n".join(
            line[depth:] if not line[:depth].strip() else line for line in match["code"].split("\n")
        )
        if form == ".yaml":
            manifests.append(code)
        elif form and place < MOST_BLOCKS:
            blocks.append((PROMPT.sub("", code), f"{file} block {place + 1}{form}"))
    joined = [("\n---\n".join(manifests), f"{file} blocks.yaml")] if len(manifests) > 1 else []
    single = [(code, f"{file} block.yaml") for code in manifests[:MOST_BLOCKS]]
    return [*joined, *single, *blocks]
