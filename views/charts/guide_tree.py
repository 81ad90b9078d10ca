"""The decision guide as a tree, in the DOT language: method or weights, then where it fits."""

from collections.abc import Sequence
from typing import NamedTuple

from views.shared.theme import BLUE, Ink

SIZE = 12  # points


class Branch(NamedTuple):
    """An answered question: the branch it belongs to, where it asks, and its answer in lines."""

    choice: str
    place: str
    lines: tuple[str, ...]
    holds: bool
    is_plan: bool


def guide_tree(root: str, branches: Sequence[Branch], ink: Ink) -> str:
    """Return the tree from left to right; the plan has a thick frame, a no a dashed one."""
    text = f'fontname="Helvetica", fontsize={SIZE}, fontcolor="{ink.text}"'
    choices = list(dict.fromkeys(one.choice for one in branches))
    parts = [
        'rankdir=LR; bgcolor="transparent"; ranksep=0.5; nodesep=0.15;',
        f'node [shape=box, style=rounded, color="{ink.faint}", {text}];',
        f'edge [color="{ink.faint}", {text}];',
        f"root [label={_label(root)}];",
    ]
    for number, choice in enumerate(choices):
        parts.append(f"choice{number} [label={_label(choice)}]; root -> choice{number};")
    for number, one in enumerate(branches):
        frame = f'color="{BLUE}", penwidth=3' if one.is_plan else "penwidth=1"
        style = "rounded" if one.holds else "rounded,dashed"
        parts += [
            f'leaf{number} [label={_label(*one.lines)}, style="{style}", {frame}];',
            f"choice{choices.index(one.choice)} -> leaf{number} [label={_label(one.place)}];",
        ]
    return f"digraph {{ {' '.join(parts)} }}"


def _label(*lines: str) -> str:
    """A label of DOT, a line below the other."""
    safe = [line.replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "\\n".join(safe) + '"'
