"""Where a JSON Schema stands in a check: the whole argument of ``json_schema``, the member ``schema`` of ``tool_arguments``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def schema_of(check: Mapping[str, Any]) -> Any:
    """Return the schema in a check, or its path; ``None`` where a check of its name has none."""
    if "json_schema" in check:
        return check["json_schema"]
    return check["tool_arguments"]["schema"] if "tool_arguments" in check else None


def with_schema(check: Mapping[str, Any], content: Any) -> dict[str, Any]:
    """Return a check that has a schema with the content of the file in the place of its path."""
    if "json_schema" in check:
        return {"json_schema": content}
    return {"tool_arguments": {**check["tool_arguments"], "schema": content}}
