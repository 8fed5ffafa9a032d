"""Python values as the text of a scene file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np


def value(item: Any) -> str:
    """A value as TOML: on one line."""
    if isinstance(item, (bool, np.bool_)):
        return "true" if item else "false"
    if isinstance(item, (int, np.integer)):
        return str(int(item))
    if isinstance(item, (float, np.floating)):
        # the shortest text that reads back to the same bits
        return repr(float(item))
    if isinstance(item, (str, os.PathLike)):
        return json.dumps(os.fspath(item), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(item, Mapping):
        entries = (f"{value(str(k))} = {value(v)}" for k, v in item.items() if v is not None)
        return "{ " + ", ".join(entries) + " }"
    if isinstance(item, np.ndarray):
        return value(item.tolist())
    if isinstance(item, (list, tuple)):
        return "[" + ", ".join(value(i) for i in item) + "]"
    raise TypeError(f"a scene cannot hold {type(item).__name__} {item!r}")


def document(items: Mapping[str, Any]) -> str:
    """A mapping as a TOML document, an entry per line."""
    return "".join(f"{value(str(k))} = {value(v)}\n" for k, v in items.items() if v is not None)


def override(key: str, item: Any) -> str:
    """An override of a scene; None takes the key out."""
    return f"{key}=unset" if item is None else f"{key}={value(item)}"
