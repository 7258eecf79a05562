"""Syntax trees of the program for the tests of its source text. Each file is parsed once per process."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def parse_source(path: Path) -> ast.Module:
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    gc.freeze()  # Exclude the tree from collections, because all trees have two million nodes.
    return tree
