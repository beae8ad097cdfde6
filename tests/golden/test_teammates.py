"""Two people with copies of one project get the same keys, whatever differs between their desks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

WHICHCLOCK = Path(sys.executable).with_name("whichclock")
CONFIG = """\
suite = "s"
cases = ["cases/*.yaml"]

[defaults]
targets = ["chat", "responses", "claude", "gem", "emb", "service", "program"]
salt = "$digest: prompts/*"

[targets.chat]
type = "openai"
base_url = "https://api.example.com/v1"
model = "m1"
api_key = "{{ env.MY_KEY }}"
params = { user = "{{ env.WHO }}" }

[targets.responses]
type = "openai-responses"
base_url = "https://api.example.com/v1"
model = "m1"
api_key = "{{ env.MY_KEY }}"

[targets.claude]
type = "anthropic"
base_url = "https://api.example.com"
model = "m1"
api_key = "{{ env.MY_KEY }}"

[targets.gem]
type = "gemini"
base_url = "https://api.example.com"
model = "m1"
api_key = "{{ env.MY_KEY }}"

[targets.emb]
type = "embeddings"
base_url = "https://api.example.com/v1"
model = "m1"
api_key = "{{ env.MY_KEY }}"

[targets.service]
type = "http"
url = "https://sut.example.com/{{ topic }}?k={{ env.MY_KEY }}"
body = { q = "{{ prompt }}", vars = ["{{ weights }}"] }

[targets.program]
type = "exec"
command = ["./sut", "prompts/a.txt"]
env = { TOKEN = "{{ env.MY_KEY }}", MODE = "fast" }
"""
CASES = """\
cases:
  - id: é
    prompt: {file: prompts/a.txt}
    vars: {topic: "naïve, ÄÖ / İ", weights: {b: 0.1, a: 1}, names: [z, a]}
"""
DESKS = [
    {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "TZ": "Asia/Tokyo",
        "PYTHONHASHSEED": "1",
        "MY_KEY": "sk-test-one",
        "WHO": "ann",
    },
    {"LC_ALL": "C.UTF-8", "TZ": "America/New_York", "PYTHONHASHSEED": "77"},
]


def keys(root: Path, desk: dict[str, str], home: Path, cwd: str) -> dict[str, str]:
    """Return target → request hash as ``golden ls`` lists it in a copy of the project."""
    for name, text in {
        "whichclock.toml": CONFIG,
        "cases/a.yaml": CASES,
        "prompts/a.txt": "Say {{ names | join('/') }} é\n",
    }.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if cwd != "prompts" else text.replace("\n", "\r\n").encode())
    done = subprocess.run(
        [WHICHCLOCK, "golden", "ls", "--format", "json"],
        cwd=root / cwd,
        env={"PATH": os.environ["PATH"], "HOME": str(home), **desk},
        capture_output=True,
        check=True,
    )
    return {row["target"]: row["request_hash"] for row in json.loads(done.stdout)["rows"]}


@pytest.mark.slow
def test_two_desks_have_equal_keys(tmp_path: Path) -> None:
    """Another folder, home, locale, time zone, hash seed, line end and credential; seven types, seven keys."""
    one = keys(tmp_path / "one", DESKS[0], tmp_path, ".")
    other = keys(tmp_path / "else where" / "ö", DESKS[1], tmp_path / "nowhere", "prompts")

    assert one == other
    assert 7 == len(set(one.values()))
