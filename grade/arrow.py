"""``pyarrow.compute``: its functions are made while it is imported, so no type checker can know them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

pc: Any = import_module("pyarrow.compute")
