"""``golden check --stable``: whether each request is the same elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from golden.stable import Unstable, unstable
from snapshots.errors import ConfigError

WHICHCLOCK = Path(sys.executable).with_name("whichclock")
CONFIG = """\
suite = "s"
cases = ["cases.jsonl"]

[targets.gpt]
type = "openai"
base_url = "http://127.0.0.1:9/v1"
model = "tiny-1"
api_key = "{{ env.GPT_KEY }}"
"""


def write(root: Path, more: str = "", *cases: dict[str, Any]) -> Path:
    """Write a suite and return its configuration file."""
    (root / "whichclock.toml").write_text(CONFIG + more)
    told = cases or ({"id": "a", "prompt": "hello"}, {"id": "b", "prompt": "bye"})
    (root / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in told))
    return root / "whichclock.toml"


def check(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(root),
        "PWD": str(root),
        "HOSTNAME": "here.example.com",
        "USER": "eve",
    }
    command = [str(WHICHCLOCK), "golden", "check", "--stable", *words]
    return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)


def test_a_suite_that_is_written_out_is_stable(tmp_path: Path) -> None:
    """Exit code 0, and the text says what was varied; the key need not be set."""
    write(tmp_path)
    done = check(tmp_path)

    assert (0, "") == (done.returncode, done.stderr.replace("calls need GPT_KEY\n", ""))
    assert "stable: every request is the same under another clock, hash seed, directory, user and locale" in done.stdout


@pytest.mark.parametrize("name", ["PWD", "HOME", "HOSTNAME", "USER", "LOGNAME", "TZ", "TMPDIR"])
def test_what_a_machine_sets_makes_a_request_unstable(tmp_path: Path, name: str) -> None:
    """Each case × target is named with the pointer."""
    config = write(tmp_path, f'params = {{ user = "${{env:{name}:-none}}" }}')

    assert [Unstable("a", "gpt", ("/body/user",)), Unstable("b", "gpt", ("/body/user",))] == unstable(config)


def test_an_unstable_suite_exits_with_1_and_names_case_target_and_pointer(tmp_path: Path) -> None:
    """It is a change that the author should look at: code 1, as a failing check."""
    write(tmp_path, 'params = { user = "${env:PWD}" }')
    done = check(tmp_path)

    assert 1 == done.returncode
    assert ["unstable  a  gpt  /body/user", "unstable  b  gpt  /body/user"] == done.stdout.splitlines()[1:]
    assert "hint: what stands there comes from the place where it runs" in done.stderr


def test_unstable_requests_as_json(tmp_path: Path) -> None:
    """Machines get the same facts and the same code."""
    write(tmp_path, 'params = { user = "${env:HOSTNAME}" }', {"id": "a", "prompt": "hello"})
    done = check(tmp_path, "--format", "json")

    assert 1 == done.returncode
    assert [{"case_id": "a", "target": "gpt", "pointers": ["/body/user"]}] == json.loads(done.stdout)["summary"][
        "unstable"
    ]


def test_stable_requests_as_json(tmp_path: Path) -> None:
    """An empty list, and code 0."""
    write(tmp_path)
    done = check(tmp_path, "--format", "json")

    assert (0, []) == (done.returncode, json.loads(done.stdout)["summary"]["unstable"])


def test_cases_that_depend_on_the_place_are_told_as_the_whole_suite(tmp_path: Path) -> None:
    """Other files, other cases: there is nothing to compare one by one."""
    for name in ("ann", "bob", "eve"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": name, "prompt": "hello"}) + "\n")
    config = write(tmp_path)
    config.write_text(CONFIG.replace("cases.jsonl", "${env:USER}.jsonl"))

    assert [Unstable("*", "*", ("",))] == unstable(config)
    assert "unstable  *  *  the whole suite" in check(tmp_path).stdout


def test_a_suite_that_does_not_load_elsewhere_is_one_clear_error(tmp_path: Path) -> None:
    """It loads for this user: the text says what is missing for another, without a traceback."""
    (tmp_path / "eve.md").write_text("mine")
    write(tmp_path, 'salt = "$digest: ${env:USER}.md"')
    done = check(tmp_path)

    assert 2 == done.returncode
    lines = done.stderr.splitlines()
    assert "error: the suite does not load elsewhere: " in "\n".join(lines)
    assert "ann.md" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_deepest_request_that_may_be_sent_is_looked_at(tmp_path: Path) -> None:
    """A body of the most nesting that a request may have has no room for anything around it."""
    deep: Any = "${not a variable}"
    for _ in range(197):
        deep = [deep]
    config = write(tmp_path, "", {"id": "deep", "body": {"messages": deep}})

    assert [] == unstable(config)


def test_the_second_process_does_not_outlive_a_failure(tmp_path: Path) -> None:
    """A suite that is broken in both is one error, and both processes are gone."""
    config = write(tmp_path)
    (tmp_path / "cases.jsonl").write_text("{")
    with pytest.raises(ConfigError, match=r"the suite does not load elsewhere: cases\.jsonl:1"):
        unstable(config)
