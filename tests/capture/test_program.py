"""Programs as targets: what they read and see, what their answers are worth, and that nothing of them stays."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from capture.program import INHERITED
from capture.run import Mode
from tests.capture.conftest import Project, outcomes
from tests.capture.processes import HI, NEVER, PYTHON, is_gone, pids, write

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks at processes through /proc")
REPOSITORY = Path(__file__).parents[2]
ANSWER = 'print(\'{"output": "A"}\')\n'


def response(project: Project, place: int = -1) -> dict[str, Any]:
    """Return the response of a stored file, the last one if none is named."""
    return json.loads(project.files()[place].read_bytes())["response"]


def error(project: Project, **options: Any) -> str:
    """Return the error of the one row of a capture that stores nothing."""
    [row] = project.capture(**options).rows
    assert [] == project.files()
    return row.error or ""


def test_a_program_reads_the_documented_document(project: Project) -> None:
    """All of it, and no more: neither id nor tags nor what is expected."""
    case = {
        "id": "secret-id",
        "prompt": "hi {{ x }}",
        "vars": {"x": "ä"},
        "tags": ["t"],
        "expected": ["e"],
        "context": {"c": 1},
    }
    write(
        project, 'import sys\nprint(\'{"output": \' + sys.stdin.read() + "}")', case, target="params = { style = 1.0 }"
    )

    assert ["recorded"] == outcomes(project.capture())
    assert {
        "output": {
            "domarinn": {"kind": "provider", "protocol": 1},
            "prompt": {"messages": [{"role": "user", "content": "hi ä"}]},
            "vars": {"x": "ä"},
            "params": {"style": 1},
        }
    } == response(project)["body"]


ENVIRONMENT = "import json, os\nprint(json.dumps({'output': dict(os.environ)}))"


def test_a_program_sees_what_is_declared_and_what_it_needs_to_run(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable of the operator's that nobody declared would be an input that no key holds."""
    monkeypatch.setenv("OPERATORS_OWN", "x")
    monkeypatch.setenv("LANG", "C.UTF-8")
    write(project, ENVIRONMENT, target='env = { DECLARED = "yes" }')
    project.capture()
    seen = response(project)["body"]["output"]

    assert "yes" == seen["DECLARED"]
    assert ("1", "C.UTF-8") == (seen["DOMARINN_PROTOCOL"], seen["LANG"])
    assert set() == set(seen) - set(INHERITED) - {"DECLARED", "DOMARINN_PROTOCOL", "WHICHCLOCK_CALL"}


def test_a_variable_that_is_read_at_call_time_reaches_the_program_alone(project: Project) -> None:
    """Keyed by its name; the value is in no file and moves no hash."""
    text = "import os, hashlib\nprint('{\"output\": \"' + hashlib.sha256(os.environ['K'].encode()).hexdigest() + '\"}')"
    write(project, text, target='env = { K = "{{ env.CANARY }}" }')
    first = project.capture(environ={"CANARY": "canary-value-1"})
    second = project.capture(Mode.LIVE, environ={"CANARY": "canary-value-2"})

    assert (["recorded"], ["moved"]) == (outcomes(first), outcomes(second))
    assert hashlib.sha256(b"canary-value-1").hexdigest() == response(project, 0)["body"]["output"]
    assert hashlib.sha256(b"canary-value-2").hexdigest() == response(project)["body"]["output"]
    keyed = hashlib.sha256(b'{"K":"${env:CANARY}"}').hexdigest()
    assert {f"sha256:{keyed}"} == {json.loads(path.read_bytes())["request"]["env"] for path in project.files()}
    assert b"canary-value" not in project.everything_written()


@pytest.mark.parametrize("where", ["stdout", "stderr"])
def test_a_program_that_says_a_secret_gets_it_nowhere(project: Project, where: str) -> None:
    """Its answer is refused, its words are scrubbed."""
    said = f"import os, sys\nprint('{{\"output\": \"' + os.environ['K'] + '\"}}', file=sys.{where})\nsys.exit({int(where == 'stderr')})"
    write(project, said, target='env = { K = "{{ env.CANARY }}" }\nretries = 0')
    told = error(project, environ={"CANARY": "canary-value-1"})

    assert "env" in told
    assert "canary-value" not in told + project.everything_written().decode()


def test_a_program_runs_in_the_project(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: Any
) -> None:
    """Wherever the capture was started."""
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    write(project, "import os\nprint('{\"output\": \"' + os.getcwd() + '\"}')")
    project.capture()

    assert str(project.root.resolve()) == response(project)["body"]["output"]


def test_a_program_need_not_read(project: Project) -> None:
    """A megabyte that nobody reads fills no pipe for good."""
    write(project, ANSWER, {"id": "big", "prompt": "x" * (1 << 20)})

    assert ["recorded"] == outcomes(project.capture())


def test_a_program_may_close_its_input_and_go_on(project: Project) -> None:
    """Writing to it fails, and that is no error."""
    write(project, f"import os\nos.close(0)\n{ANSWER}", {"id": "big", "prompt": "x" * (1 << 20)})

    assert ["recorded"] == outcomes(project.capture())


def test_a_program_may_answer_before_it_reads(project: Project) -> None:
    """Both pipes are served side by side: an answer larger than a pipe, and an input larger than one."""
    text = "import sys\nprint('{\"output\": \"' + 'y' * 300000 + '\"}', flush=True)\nsys.stdin.read()"
    write(project, text, {"id": "big", "prompt": "x" * (1 << 20)})

    assert ["recorded"] == outcomes(project.capture())
    assert 300_000 == len(response(project)["body"]["output"])


def test_a_flood_on_standard_output_is_refused(project: Project) -> None:
    """Read up to the limit, and then ended."""
    write(project, "import os\nopen('a.pid', 'w').write(str(os.getpid()))\nwhile True: print('x' * 65536)")
    [row] = project.capture(max_response_bytes=100_000).rows

    assert ("refused", "the program printed more than 100000 bytes; it is not stored") == (row.outcome.value, row.error)
    assert [True] == [is_gone(pid) for pid in pids(project)]


def test_a_flood_on_standard_error_is_no_matter(project: Project) -> None:
    """Only its end is kept, in case of need."""
    write(project, f"import sys\nfor _ in range(200): print('x' * 65536, file=sys.stderr)\n{ANSWER}")

    assert ["recorded"] == outcomes(project.capture())


def test_a_program_that_never_ends_is_ended_and_tried_again(project: Project) -> None:
    """After its time, by the rule for all calls."""
    write(
        project,
        f"import os\nopen(f'{{os.getpid()}}.pid', 'w').write(str(os.getpid()))\n{NEVER}",
        target="timeout_s = 0.4\nretries = 1",
    )

    assert "the program did not end within 0.4 s (after 2 attempts)" == error(project)
    assert [0.5] == project.pauses
    assert [True, True] == [is_gone(pid) for pid in pids(project)]


CHILD = "import subprocess, sys\nchild = subprocess.Popen([sys.executable, '-I', '-S', '-c', {code!r}]{more})\nopen('a.pid', 'w').write(str(child.pid))\n"


@pytest.mark.parametrize(
    ("code", "more"),
    [
        pytest.param(NEVER, "", id="holds the pipes"),
        pytest.param("while True: print('x' * 4096)", "", id="floods standard output"),
        pytest.param("import sys\nwhile True: print('x' * 4096, file=sys.stderr)", "", id="floods standard error"),
        pytest.param(NEVER, ", start_new_session=True", id="in a session of its own"),
    ],
)
def test_a_child_that_is_left_behind_is_not_waited_for(project: Project, code: str, more: str) -> None:
    """The answer is there when the program has ended; the child goes with it."""
    # What the child writes may end up behind the answer, so it writes what JSON allows there.
    answer = 'import os\nos.write(1, b\'{"output": "A"}\')\n'
    silent = code.replace("print('x' * 4096)", "print(' ' * 4096)")
    write(project, CHILD.format(code=silent, more=more) + answer, target="timeout_s = 20\nretries = 0")

    assert ["recorded"] == outcomes(project.capture())
    assert "A" == response(project)["body"]["output"]
    assert [True] == [is_gone(pid) for pid in pids(project)]


DAEMON = """\
import os, signal
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.close(read)
        os.write(write, str(os.getpid()).encode())
        os.close(write)
        while True: signal.pause()
    os._exit(0)
os.close(write)
daemon = os.read(read, 20).decode()
"""


def test_a_daemon_is_ended_with_its_program(project: Project) -> None:
    """Two forks and a session of its own: found by its mark."""
    write(project, f"{DAEMON}open('a.pid', 'w').write(daemon)\n{ANSWER}")

    assert ["recorded"] == outcomes(project.capture())
    assert [True] == [is_gone(pid) for pid in pids(project)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_survives_the_capture(project: Project, number: signal.Signals) -> None:
    """Neither the program nor its daemon: interrupted, terminated, or killed so that the capture cannot clean up itself."""
    os.mkfifo(project.root / "ready")
    write(project, f"{DAEMON}open('ready', 'w').write(f'{{os.getpid()}} {{daemon}}')\n{NEVER}")
    process = subprocess.Popen(
        [sys.executable, "-m", "whichclock", "capture"],
        cwd=project.root,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    left = [int(word) for word in (project.root / "ready").read_text().split()]

    process.send_signal(number)
    _, told = process.communicate(timeout=30)

    assert (2, [True, True]) == (len(left), [is_gone(pid) for pid in left])
    assert (-9 if number is signal.SIGKILL else 130) == process.returncode
    assert b"Traceback" not in told


def test_a_failed_program_is_told_with_its_last_words(project: Project) -> None:
    """The end of what it said, not the beginning; neutral, and with no value in it."""
    text = (
        "import os, sys\nprint('first words', 'x' * 50000, '\\x1b[31mred', os.environ['K'], 'it died of this', file=sys.stderr)\n"
        "sys.exit(3)"
    )
    write(project, text, target='retries = 0\nenv = { K = "{{ env.CANARY }}" }')
    told = error(project, environ={"CANARY": "canary-value-1"})

    assert told.startswith("the program failed, exit code 3: …xxx")
    assert told.endswith("\\x1b[31mred ${env:CANARY} it died of this")
    assert 400 > len(told)


def test_a_failed_program_may_say_why_in_its_answer(project: Project) -> None:
    """Where it says nothing on its standard error."""
    write(project, 'print(\'{"error": {"message": "no such model"}}\')\nraise SystemExit(1)')

    assert "the program failed, exit code 1: no such model" == error(project)


def test_a_program_that_is_killed_is_told_with_the_signal(project: Project) -> None:
    """It is not tried again: who killed it had a reason."""
    write(project, "import os\nos.kill(os.getpid(), 9)", target="retries = 3")

    assert ("the program failed, ended by signal 9", []) == (error(project), project.pauses)


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("", "the program ended with exit code 0 and printed nothing"),
        ("Hello", "the program ended with exit code 0 and printed no JSON object: Hello"),
        (
            '{"output": "A"} {}',
            'the program ended with exit code 0 and printed no JSON object: {"output": "A"} {}',
        ),
        ("[1]", "the program ended with exit code 0 and printed no JSON object: [1]"),
        ("{}", "the program ended with exit code 0 and printed an object with neither output nor pass: {}"),
        (
            '{"usage": {}}',
            'the program ended with exit code 0 and printed an object with neither output nor pass: {"usage": {}}',
        ),
        ('{"output": "A", "error": {}}', "the program reports: an error"),
        ('{"output": "A", "error": "no"}', "the program reports: no"),
        ('{"error": {"message": "no", "retriable": "yes"}}', "the program reports: no"),
    ],
)
def test_what_is_no_answer_is_not_stored(project: Project, printed: str, expected: str) -> None:
    """Named, and not tried again."""
    write(project, f"print({printed!r}, end='')", target="retries = 3")

    assert (expected, []) == (error(project), project.pauses)


FAILS_ONCE = """\
import json, os
if os.path.exists("once"):
    print('{"output": "A"}')
else:
    open("once", "w").close()
    print(json.dumps({"error": {"message": "busy", "retriable": True, **MORE}}))
"""


@pytest.mark.parametrize(("more", "pause"), [({}, 0.5), ({"retry_after_ms": 1500}, 1.5), ({"retry_after_ms": -1}, 0.5)])
def test_a_retriable_error_is_tried_again(project: Project, more: dict[str, Any], pause: float) -> None:
    """After the time that the program asks for, else by the rule."""
    write(project, FAILS_ONCE.replace("MORE", repr(more)), target="retries = 1")

    assert ["recorded"] == outcomes(project.capture())
    assert [pause] == project.pauses


def test_a_program_that_asks_to_wait_too_long_has_failed(project: Project) -> None:
    """The ceiling is the one of Retry-After: 120 s."""
    write(project, FAILS_ONCE.replace("MORE", repr({"retry_after_ms": 121_000})), target="retries = 1")

    assert "the program reports: busy (the server asks to wait 121 s, more than the ceiling of 120 s)" == error(project)


@pytest.mark.parametrize(
    ("command", "reason"), [(["./absent"], "No such file or directory"), (["./cases.jsonl"], "Permission denied"), (["no-such-program"], "No such file or directory")]
)  # fmt: skip
def test_a_program_that_cannot_be_started_is_named(project: Project, command: list[str], reason: str) -> None:
    """With the reason of the system, and where it is looked for."""
    write(project, ANSWER, target="retries = 2")
    config = project.root / "whichclock.toml"
    config.write_text(config.read_text().replace(json.dumps([*PYTHON, "sut.py"]), json.dumps(command)))

    assert (f"the program '{command[0]}' cannot be started: {reason}", []) == (error(project), project.pauses)


def test_a_command_that_holds_a_variable_is_told_by_its_name(project: Project) -> None:
    """Also where quotes would have to be escaped to show it."""
    write(project, ANSWER)
    config = project.root / "whichclock.toml"
    config.write_text(config.read_text().replace(json.dumps([*PYTHON, "sut.py"]), '["{{ env.CANARY }}"]'))

    assert "the program '${env:CANARY}' cannot be started: No such file or directory" == error(
        project, environ={"CANARY": 'no\\such "canary\'s"\tfile'}
    )


def test_an_edited_program_replays_its_old_answers_and_says_so(project: Project) -> None:
    """Its bytes are no part of the key: a warning, never a miss."""
    write(project, ANSWER)
    first = project.capture()
    digest = hashlib.sha256(ANSWER.encode()).hexdigest()
    assert f"sha256:{digest}" == response(project)["program"]["sut.py"]
    assert () == project.capture(Mode.REPLAY).warnings
    (project.root / "sut.py").write_text(ANSWER + "# edited\n")
    second = project.capture(Mode.REPLAY)

    assert (["recorded"], ["replayed"]) == (outcomes(first), outcomes(second))
    assert [row.request_hash for row in first.rows] == [row.request_hash for row in second.rows]
    [warning] = second.warnings
    assert warning.startswith(
        "target sut: sut.py is another file than when answers were recorded; they are replayed all the same"
    )


@pytest.mark.parametrize(("said", "outcome"), [("A", "relabelled"), ("B", "moved")])
def test_an_edited_program_is_a_new_observation_of_a_live_run(project: Project, said: str, outcome: str) -> None:
    """Beside the old one under the same key, also where it says the same; then nothing is left to warn of."""
    write(project, ANSWER)
    project.capture()
    assert ["unchanged"] == outcomes(project.capture(Mode.LIVE))
    (project.root / "sut.py").write_text(ANSWER.replace("A", said) + "# edited\n")

    assert [outcome] == outcomes(project.capture(Mode.LIVE))
    assert (2, 1) == (len(project.files()), len({path.name[:64] for path in project.files()}))
    assert () == project.capture(Mode.REPLAY).warnings


def test_many_programs_run_at_once(project: Project) -> None:
    """As many as the target may have open; each gets its own document and its own mark."""
    cases = [{**HI, "id": str(i), "prompt": f"p{i}"} for i in range(12)]
    write(
        project,
        'import sys, json\nprint(json.dumps({"output": json.load(sys.stdin)["prompt"]["messages"][0]["content"]}))',
        *cases,
    )
    result = project.capture()
    texts = {json.loads(path.read_bytes())["response"]["body"]["output"] for path in project.files()}

    assert (["recorded"] * 12, {f"p{i}" for i in range(12)}) == (outcomes(result), texts)
