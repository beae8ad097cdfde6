"""The fast judge of our own schemas says what jsonschema says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import predicate, schema

NAMES = (
    "id",
    "prompt",
    "request",
    "body",
    "expected",
    "checks",
    "context",
    "trials",
    "pass",
    "known",
    "vars",
    "targets",
    "salt",
    "x",
)
FRAGMENTS: list[Any] = [
    "a",
    "",
    "ok\n",
    "Ok",
    "all",
    "flaky",
    "env",
    "openai",
    0,
    1,
    1.0,
    0.5,
    -1,
    2,
    True,
    None,
    [],
    ["a"],
    ["a", "a"],
    ["ok", 1],
    {},
    {"now": 1},
    {"env": 1},
    {"file": "a"},
    {"file": ""},
    [{"role": "user", "content": [{}]}],
    [{"content": "a"}],
    [{"contains": "a"}],
    [{"contains": {"any": []}}],
    [{"contains": {"any": ["a"], "text": "b"}}],
    [{"regex": {"pattern": "a", "flags": "q"}}],
    [{"max_tokens": 1.0}],
    [{"tool_called": {"name": "a", "arguments": 1}}],
    [{"finish_reason": []}],
]
values = st.sampled_from(FRAGMENTS) | st.lists(st.sampled_from(FRAGMENTS), max_size=2)


@given(st.dictionaries(st.sampled_from(NAMES), values, max_size=5))
def test_cases_are_judged_as_jsonschema_judges_them(members: dict[str, Any]) -> None:
    """Both ways: what one accepts the other accepts."""
    case = {"id": "c", "prompt": "p", **members}
    fits = predicate.compile_schema(schema.shipped("case"))

    assert schema.validator(schema.shipped("case")).is_valid(case) == fits(case)


TARGET_NAMES = (
    "type",
    "base_url",
    "endpoint",
    "headers",
    "query",
    "timeout_s",
    "retries",
    "accept_status",
    "params",
    "keyed_env",
    "x",
)


@given(
    st.dictionaries(
        st.sampled_from(("suite", "cases", "graders", "gates", "defaults", "grade", "x")), values, max_size=3
    ),
    st.dictionaries(
        st.sampled_from(TARGET_NAMES), values | st.sampled_from([[404], [99], {"A b": "c"}, {"A": 1}]), max_size=3
    ),
)
def test_configurations_are_judged_as_jsonschema_judges_them(top: dict[str, Any], target: dict[str, Any]) -> None:
    """Both ways here too."""
    base = {"type": "openai", "base_url": "https://api.example.com"}
    config = {"suite": "s", "cases": ["a"], "targets": {"t": {**base, **target}}, **top}
    fits = predicate.compile_schema(schema.shipped("config"))

    assert schema.validator(schema.shipped("config")).is_valid(config) == fits(config)


def test_a_keyword_that_is_not_compiled_is_an_error() -> None:
    """A schema cannot say more than the fast judge hears."""
    with pytest.raises(ValueError, match="'contains' is not compiled"):
        predicate.compile_schema({"properties": {"a": {"contains": {}}}})


@pytest.mark.parametrize("name", ["config", "case"])
def test_our_schemas_are_schemas(name: str) -> None:
    """Valid under their own meta-schema."""
    shipped = schema.shipped(name)

    assert [] == list(schema.validator_of_schemas(shipped).iter_errors(shipped))


def test_the_fast_judge_does_without_jsonschema(tmp_path: Path) -> None:
    """A sound suite loads without importing it, and without Jinja."""
    import subprocess
    import sys

    (tmp_path / "whichclock.toml").write_text(
        'suite = "s"\ncases = ["a.jsonl"]\n[targets.t]\ntype = "openai"\nbase_url = "https://api.example.com"\n'
    )
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "prompt": "p"}))
    program = (
        "import sys; from pathlib import Path; from golden.suite import load_suite; "
        f"load_suite(Path({str(tmp_path / 'whichclock.toml')!r})); print({{'jsonschema', 'jinja2'}} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )

    assert "set()\n" == done.stdout
