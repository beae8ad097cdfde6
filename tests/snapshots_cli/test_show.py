"""``snapshots show``, ``ls``, ``stats`` and ``path``: what is recorded, as text for people."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from snapshots.store import Store
from tests.snapshots_cli.conftest import NOON, answer, document, put

TOOL = {"type": "function", "function": {"name": "get_order", "parameters": {"type": "object"}}}
CALL = {"id": "1", "type": "function", "function": {"name": "get_order", "arguments": '{"order_id":"A-17"}'}}


def test_a_snapshot_is_shown_whole(store: Store, run) -> None:
    """Request, answer, tool calls and how it was come by stand in one fixed text."""
    doc = document("Get my order", tools=[TOOL], temperature=0)
    found = put(store, doc, answer("One moment", tool_calls=[CALL]))
    ran = run("show", found.path)
    hashes = store.read(found)

    assert (
        f"""\
request  {hashes.request_hash}  trial 0
answer   {hashes.answer_hash}  openai-chat/1
recorded 2025-11-30T12:00:00Z
latency_ms: 812
attempts: 1
target: gpt
cases: a, b
tool: whichclock/0.1.0

REQUEST POST https://api.example.com/v1/chat/completions
  model: "tiny-1"
  tools:
    [
      {{
        "type": "function",
        "function": {{
          "name": "get_order",
          "parameters": {{
            "type": "object"
          }}
        }}
      }}
    ]
  temperature: 0
  [user]
    Get my order

ANSWER status 200, model tiny-1, 3 tokens in, 2 out
  [text]
    One moment
  [tool call] get_order
    {{
      "order_id": "A-17"
    }}
  finish: stop
"""
        == ran.out
    )


def test_a_hash_prefix_shows_the_current_answer_of_each_trial(store: Store, run) -> None:
    """Older observations are counted, not shown."""
    put(store, document("a"), answer("old"))
    found = put(store, document("a"), answer("new"), second=NOON + 1)
    put(store, document("a"), answer("other"), trial=1)
    ran = run("show", store.read(found).request_hash[:10], "--snapshots", store.root)

    assert "the last of 2 observations" == ran.out.splitlines()[0]
    assert [False, True, True] == [text in ran.out for text in ("old", "new", "other")]


def test_a_prefix_of_several_requests_is_refused_with_the_hashes(store: Store, run) -> None:
    """Nobody is shown another request than the one meant."""
    hashes = [store.read(put(store, document(str(i)), answer("A"))).request_hash for i in range(3)]
    ran = run("show", "", "--snapshots", store.root)

    assert 2 == ran.code
    assert all(one in ran.err for one in hashes)


@pytest.mark.parametrize("name", ["0123", "xyz"])
def test_a_name_of_nothing_is_a_usage_error(store: Store, run, name: str) -> None:
    """The hint says how to list what there is."""
    put(store, document("a"), answer("A"))

    assert 2 == run("show", name, "--snapshots", store.root).code


def test_no_text_of_a_model_reaches_the_terminal_as_it_is(store: Store, run) -> None:
    """Controls and bidi marks are escapes, and a false heading stays indented."""
    found = put(store, document("\x1b[31mred\x07"), answer("a\u202eb\nANSWER status 200\x9b2J", model="m\x1b]0;t\x07"))
    out = run("show", found.path).out

    assert [] == [c for c in out if c != "\n" and not c.isprintable()]
    assert 1 == sum(line.startswith("ANSWER") for line in out.splitlines())


def test_refusals_reasoning_and_streams_are_shown(store: Store, run) -> None:
    """A stream reads as the answer that it spells."""
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hel", "reasoning": "why"}, "finish_reason": None}]}
    last = {"choices": [{"index": 0, "delta": {"content": "lo", "refusal": "no"}, "finish_reason": "stop"}]}
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in (chunk, last)) + "data: [DONE]\n\n"
    found = put(store, document("a"), {"status": 200, "headers": {}, "text": text})
    out = run("show", found.path).out

    assert "  [reasoning]\n    why\n  [text]\n    Hello\n  [refusal]\n    no\n  finish: stop\n" in out


@pytest.mark.parametrize(
    "response",
    [
        {"status": 200, "headers": {}, "text": "plain words"},
        {"status": 200, "headers": {}, "base64": "/wA="},
        {"status": 404, "headers": {}, "body": {"error": {"message": "gone"}}},
        {"status": 200, "headers": {}, "body": {"choices": [{"message": {"content": 5}}]}},
        {"status": 200, "headers": {}, "body": None},
    ],
)
def test_an_answer_that_no_reader_reads_is_shown_as_it_is(store: Store, run, response: dict) -> None:
    """Looking at a recording never fails because it is odd."""
    found = put(store, document("a"), response)
    ran = run("show", found.path)

    assert 0 == ran.code
    assert f"ANSWER status {response['status']}" in ran.out


def test_textconv_reads_a_file_of_any_name(store: Store, run, tmp_path: Path) -> None:
    """git hands its own temporary names over; the view is the same."""
    found = put(store, document("a"), answer("A"))
    copy = tmp_path / "blob_x1"
    shutil.copy(found.path, copy)

    assert run("show", found.path).out == run("show", "--textconv", copy).out
    assert run("show", found.path).out == run("show", copy).out


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\x00", b"[]", b'{"integrity": 5}', b"<<<<<<< HEAD\n{}\n"])
def test_textconv_never_fails_on_a_damaged_file(run, tmp_path: Path, data: bytes) -> None:
    """A diff of a damaged file shows the damage."""
    path = tmp_path / "blob"
    path.write_bytes(data)
    lenient, strict = run("show", "--textconv", path), run("show", path)

    assert (0, 3) == (lenient.code, strict.code)
    assert lenient.out.startswith("corrupt snapshot: ")


def test_git_diff_shows_what_moved_in_an_answer(store: Store) -> None:
    """With the driver set, a changed store reads as changed words, not as changed JSON."""
    from capture.new_store import prepare

    root = store.root.parent

    def git(*arguments: str) -> str:
        settings = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
        view = f"diff.whichclock.textconv={sys.executable} -m whichclock snapshots show --textconv"
        return subprocess.run(
            ["git", *settings, "-c", view, *arguments], cwd=root, capture_output=True, text=True, check=True,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(root)},
        ).stdout  # fmt: skip

    git("init", "-q")
    prepare(store.root)
    old = put(store, document("a"), answer("good day"))
    git("add", "store")
    git("commit", "-q", "-m", "one")
    Path(old.path).unlink()
    put(store, document("a"), answer("good night"), second=NOON + 1)
    git("add", "store")

    assert {"-    good day", "+    good night"} <= set(git("diff", "--cached", "-M10%").splitlines())


def test_ls_has_a_line_for_each_request_and_trial(store: Store, run) -> None:
    """Hash, trial, second, status, answer, observations, target and model; the current file speaks."""
    put(store, document("a"), answer("old"))
    current = store.read(put(store, document("a"), answer("new", model="tiny-2"), second=NOON + 1))
    put(store, document("a"), answer("new"), trial=10)
    put(store, document("a"), answer("new"), trial=2)
    ran = run("ls", current.request_hash[:8], "--snapshots", store.root)

    head, first, second, third = ran.out.splitlines()
    assert ["REQUEST", "TRIAL", "RECORDED", "AT", "STATUS", "ANSWER", "SEEN", "TARGET", "MODEL"] == head.split()
    row = [
        current.request_hash[:12],
        "0",
        "2025-11-30T12:00:01Z",
        "200",
        current.answer_hash[:16],
        "2",
        "gpt",
        "tiny-2",
    ]
    assert row == first.split()
    assert ["2", "10"] == [second.split()[1], third.split()[1]]


def test_ls_lists_a_corrupt_file_as_such(store: Store, run) -> None:
    """One damaged file hides none of the others."""
    Path(put(store, document("a"), answer("A")).path).write_bytes(b"{}")
    put(store, document("b"), answer("B"))
    rows = json.loads(run("ls", "--snapshots", store.root, "--format", "json").out)["rows"]

    assert [False, True] == sorted(row["corrupt"] for row in rows)


def test_stats_counts_the_store(store: Store, run) -> None:
    """Files, identities, requests, trials, rules, models and the first and last second."""
    put(store, document("a"), answer("A"))
    put(store, document("a"), answer("B", model="tiny-2"), second=NOON + 5)
    put(store, document("a"), answer("A"), trial=1)
    put(store, document("b"), {"status": 200, "headers": {}, "text": "x"})
    counted = json.loads(run("stats", "--snapshots", store.root, "--format", "json").out)
    size = counted.pop("bytes")

    assert sum(path.stat().st_size for path in store.root.rglob("*.json")) == size
    assert {
        "schema": "whichclock.store-stats/1",
        "files": 4,
        "corrupt": 0,
        "identities": 3,
        "requests": 2,
        "trials": 2,
        "rules": {"openai-chat/1": 3, "whole/1": 1},
        "models": {"not reported": 1, "tiny-1": 2, "tiny-2": 1},
        "first": "2025-11-30T12:00:00Z",
        "last": "2025-11-30T12:00:05Z",
    } == counted


CONFIGURATIONS = {
    "default": ("whichclock.toml", 'suite = "s"', "snapshots"),
    "key": ("whichclock.toml", 'snapshots = "frozen/here"', "frozen/here"),
    "pyproject": ("pyproject.toml", '[tool.whichclock]\nsnapshots = "s"', "s"),
    "variable": ("whichclock.toml", 'snapshots = "${env:WHERE:-there}"', "there"),
}


@pytest.mark.parametrize(("name", "text", "folder"), CONFIGURATIONS.values(), ids=CONFIGURATIONS.keys())
def test_path_prints_the_configured_store(run, tmp_path: Path, monkeypatch, name: str, text: str, folder: str) -> None:
    """The configuration is found upwards; nothing of it but this key is read."""
    (tmp_path / name).write_text(text)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "er")
    monkeypatch.delenv("WHICHCLOCK_SNAPSHOTS", raising=False)

    assert f"{tmp_path / folder}\n" == run("path").out
    monkeypatch.setenv("WHICHCLOCK_SNAPSHOTS", "/from/variable")
    assert "/from/variable\n" == run("path").out
    assert "/from/option\n" == run("path", "--snapshots", "/from/option").out


def test_path_without_a_configuration_is_a_usage_error(run, tmp_path: Path, monkeypatch) -> None:
    """The remedy is named."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WHICHCLOCK_SNAPSHOTS", raising=False)
    ran = run("path")

    assert 2 == ran.code
    assert "--snapshots DIR" in ran.err


@pytest.mark.parametrize(
    ("cost", "shown"),
    [(0.19339999999999993, "0.1934 USD"), (0.25, "0.25 USD"), (2.0, "2 USD"), (0.0000004, "4.0e-07 USD")],
)
def test_costs_are_rounded_for_people(store: Store, run, cost: float, shown: str) -> None:
    """A sum of prices ends in noise: a millionth of a dollar is enough, and what is less is still told."""
    doc = {"transport": "exec", "command": ["answer"], "stdin": {}}
    found = put(store, doc, {"status": 0, "headers": {}, "body": {"output": "Hello", "cost_usd": cost}})

    assert f"ANSWER status 0, {shown}\n" in run("show", found.path).out


def test_the_list_of_commands_is_not_cut_off(run) -> None:
    """Each has a first line that fits."""
    assert [] == [line for line in run("--help").out.splitlines() if line.endswith("...") and "COMMAND" not in line]
