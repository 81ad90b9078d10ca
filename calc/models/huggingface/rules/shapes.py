"""Counts that towers and projectors share."""

from collections.abc import Mapping
from typing import Any

Config = Mapping[str, Any]


def linear(inside: int, outside: int, bias: bool = True) -> int:
    """A matrix and its bias. [parameters]"""
    return inside * outside + bias * outside


def side(size: Any) -> int:
    """Side of an image or a patch, which some configs state as height and width. [pixels]"""
    return size[0] if isinstance(size, list) else size


def patches(config: Config) -> int:
    """Patches of an image. [patches]"""
    return (side(config["image_size"]) // side(config["patch_size"])) ** 2
