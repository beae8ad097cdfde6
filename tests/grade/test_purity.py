"""While a grader runs the world is closed: what touches it is a grader_error, even where the grader swallows the refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.grade.conftest import Grade

DOORS = {
    "read a file": "open('/etc/hostname').read()",
    "read by descriptor": "os.open('/etc/hostname', os.O_RDONLY)",
    "write a file": "open('planted', 'w').write('x')",
    "list a folder": "os.listdir('.')",
    "remove a file": "os.remove('graders.py')",
    "socket": "socket.socket()",
    "look up a name": "socket.getaddrinfo('example.com', 80)",
    "open a URL": "urllib.request.urlopen('http://127.0.0.1:9/')",
    "subprocess": "subprocess.run(['true'])",
    "shell": "os.system('true')",
    "fork": "os.fork()",
    "spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "kill": "os.kill(os.getppid(), 0)",
    "thread": "threading.Thread(target=print).start()",
    "sleep": "time.sleep(1)",
    "ctypes": "ctypes.CDLL(None)",
    "chdir": "os.chdir('/')",
    "set a variable": "os.putenv('A', 'b')",
    "sqlite": "sqlite3.connect('x.db')",
    "look at a file": "os.stat('/etc/hostname')",
    "ask whether a file is there": "os.path.exists('/etc/hostname')",
    "ask whether a path is one": "pathlib.Path('/etc').is_dir()",
    "ask for access": "os.access('/etc/hostname', os.R_OK)",
    "follow a link": "os.readlink('/proc/self/exe')",
    "signal": "signal.signal(signal.SIGPROF, signal.SIG_IGN)",
}
HEAD = "import ctypes, os, pathlib, signal, socket, sqlite3, subprocess, threading, time, urllib.request\n"


@pytest.mark.parametrize("door", DOORS.values(), ids=list(DOORS))
@pytest.mark.parametrize("swallowed", [False, True], ids=["raised", "swallowed"])
def test_a_door_to_the_world_is_a_grader_error(grade: Grade, door: str, swallowed: bool) -> None:
    """The row says that the grader touched the world; other graders of the case are still heard."""
    body = f"    try:\n        {door}\n    except Exception:\n        pass\n" if swallowed else f"    {door}\n"
    source = f"{HEAD}def g(envelope):\n{body}    return {{'ok'}}\ndef other(envelope):\n    return {{'heard'}}\n"

    facts = grade(source, "g", "other")

    assert ("grader_error", ["heard"]) == (facts["status"], facts["findings"]), facts["error"]
    assert "graders.py:g: it touched the world" in facts["error"]


@pytest.mark.parametrize(
    "question",
    ["os.getpid()", "os.getppid()", "os.cpu_count()", "list(os.getloadavg())", "list(os.uname())", "platform.node()"],
)
def test_the_machine_has_no_face(grade: Grade, question: str) -> None:
    """What differs from machine to machine, and raises no event, is the same for every grader."""
    source = f"import os, platform\ndef g(envelope):\n    return {{'seen': {question}}}\n"
    seen = {
        "os.getpid()": "1",
        "os.getppid()": "0",
        "os.cpu_count()": "1",
        "list(os.getloadavg())": "[0,0,0]",
        "list(os.uname())": '["Linux","localhost","0","0","machine"]',
        "platform.node()": '"localhost"',
    }

    assert f'{{"seen":{{"g":{seen[question]}}}}}' == grade(source)["evidence"]


@pytest.mark.parametrize(
    "trick",
    [
        "re.search = lambda *a, **k: None",
        "json.loads = lambda text: {}",
        "builtins.len = lambda value: 0",
        "import snapshots.canonical; snapshots.canonical.encode = lambda *a, **k: b''",
    ],
)
def test_replacing_what_our_code_calls_ends_the_process(grade: Grade, trick: str) -> None:
    """Nothing that such a process says is believed: the row is a grader error."""
    source = f"import builtins, json, re\ndef g(envelope):\n    {trick}\n    return set()\n"
    facts = grade(source)

    assert ("grader_error", True) == (facts["status"], "changed whichclock's own code" in facts["error"])


def test_the_environment_is_empty(grade: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    """A grader sees no variable of the machine, called or imported, but a time zone that is UTC everywhere."""
    monkeypatch.setenv("SECRET_CANARY", "sk-test-canary-0000000000")
    source = (
        "import os\nATIMPORT = dict(os.environ)\ndef g(envelope):\n    return {'seen': [ATIMPORT, dict(os.environ)]}\n"
    )

    assert '{"seen":{"g":[{"TZ":"UTC"},{"TZ":"UTC"}]}}' == grade(source)["evidence"]


def test_the_clock_stands_at_the_cases_now(grade: Grade) -> None:
    """Calendar clocks show context.now, stop-watches show nothing."""
    source = (
        "import datetime, time\nfrom datetime import datetime as d\n"
        "def g(envelope):\n"
        "    return {'now': [d.now(datetime.timezone.utc).isoformat(), datetime.date.today().isoformat(), time.time(),\n"
        "            time.strftime('%H:%M'), time.monotonic(), time.perf_counter_ns()]}\n"
    )

    facts = grade(source, context={"now": "2026-01-01T06:00:00Z"})

    # 2026-01-01T06:00:00Z is 1767247200 seconds after 1970
    assert '{"now":{"g":["2026-01-01T06:00:00+00:00","2026-01-01",1767247200,"06:00",0,0]}}' == facts["evidence"]


def test_without_a_now_the_clock_stands_at_the_year_2000(grade: Grade) -> None:
    """2000-01-01T00:00:00Z is 946684800."""
    assert (
        '{"now":{"g":946684800}}'
        == grade("import time\ndef g(envelope):\n    return {'now': time.time()}\n")["evidence"]
    )


def test_randomness_is_the_same_in_every_run(grade: Grade) -> None:
    """Random numbers, system randomness, new generators and uuids repeat exactly."""
    source = (
        "import os, random, secrets, uuid\ndef g(envelope):\n"
        "    return {'drawn': [random.random(), random.choice('abcdefgh'), random.gauss(0, 1), random.Random().random(),\n"
        "            os.urandom(4).hex(), secrets.token_hex(4), str(uuid.uuid4()), random.SystemRandom().random()]}\n"
    )

    assert grade(source)["evidence"] == grade(source)["evidence"]


def test_each_call_begins_with_the_same_seed(grade: Grade) -> None:
    """What one grader draws does not change what the next one does."""
    source = "import random\ndef a(envelope):\n    return {'drawn': random.random()}\nb = a\ndef c(envelope):\n    return {'drawn': random.random()}\n"
    evidence = grade(source, "a", "c")["evidence"]

    first, second = evidence.split('"a":')[1].split(",")[0], evidence.split('"c":')[1].split("}")[0]
    assert first == second


def test_a_module_may_be_imported_inside_a_grader(grade: Grade) -> None:
    """Late imports of the standard library are no sin."""
    assert ["ok"] == grade("def g(envelope):\n    import colorsys, fractions\n    return {'ok'}\n")["findings"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return None", "returned None"),
        ("return 'ok'", "returned str"),
        ("return 7", "returned int"),
        ("return {'Not A Code'}", "'Not A Code'"),
        ("return {7}", "'int'"),
        ("return {'empty_answer'}", "built-in check"),
        ("return {'tool_not_allowed'}", "built-in check"),
        ("return {'a': object()}", "no JSON form"),
        ("return {'a': float('nan')}", "no JSON form"),
        ("return {'a': '\\ud800'}", "no JSON form"),
        ("raise ValueError('boom')", "ValueError: boom"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("return g(envelope)", "RecursionError"),
        ("envelope['raw']['choices'].clear()", "read-only"),
        ("yield 'ok'", "generator"),
    ],
)
def test_a_grader_that_does_wrong_is_named_with_the_reason(grade: Grade, body: str, words: str) -> None:
    """A grader error is never a pass or a fail, and its message says what was wrong."""
    facts = grade(f"def g(envelope):\n    {body}\n")

    assert "grader_error" == facts["status"]
    assert words in facts["error"]


def test_an_endless_loop_ends_as_a_grader_error(grade: Grade) -> None:
    """Processor time is limited, even for a grader that catches everything."""
    source = "def g(envelope):\n    while True:\n        try:\n            while True: pass\n        except Exception: pass\n"

    assert "graders.py:g: it used more than 0.2 s of processor time" == grade(source, timeout_s=0.2)["error"]


def test_a_loop_in_c_ends_its_worker_and_only_that_row(grade: Grade) -> None:
    """What Python cannot interrupt ends the process; the row says so."""
    facts = grade("def g(envelope):\n    return {'a': sum(range(10**12))}\n", timeout_s=0.2)

    assert ("grader_error", "a grader ended its worker process (signal 26)") == (facts["status"], facts["error"])


def test_a_memory_bomb_is_a_grader_error(grade: Grade) -> None:
    """Memory is limited."""
    assert (
        "more memory than allowed"
        in grade("def g(envelope):\n    return {'a': 'x' * (2 << 30)}\n", memory_mb=256)["error"]
    )


def test_what_a_grader_prints_reaches_people_and_not_the_protocol(
    grade: Grade, capfd: pytest.CaptureFixture[str]
) -> None:
    """Printing is harmless, and no control character of it reaches the terminal."""
    facts = grade("def g(envelope):\n    print('\\x1b[31mred')\n    return {'ok'}\n")

    assert (["ok"], "grader: \\x1b[31mred\n") == (facts["findings"], capfd.readouterr().err)


def test_a_worker_that_dies_takes_no_other_row_with_it(grade: Grade) -> None:
    """os._exit in a grader is that row's error."""
    facts = grade("import os\ndef g(envelope):\n    os._exit(7)\n")

    assert ("grader_error", "a grader ended its worker process (exit 7)") == (facts["status"], facts["error"])


def test_a_grader_sees_its_case_and_nothing_more(grade: Grade) -> None:
    """Context, allowed tools, checks, graders and the snapshot's request: not id, expected or tags."""
    source = "def g(envelope, case):\n    return {'case': [sorted(case), case['context'], case['request']['body']['model']]}\n"

    facts = grade(source, context={"order_ids": ["A-17"]})

    assert (
        '{"case":{"g":[["allowed_tools","checks","context","graders","request"],{"order_ids":["A-17"]},"m1"]}}'
        == facts["evidence"]
    )


def test_a_file_read_at_import_is_part_of_the_digest(grade: Grade) -> None:
    """Changing the data a grader loads changes the grader."""
    source = "import pathlib\nDATA = (pathlib.Path(__file__).parent / 'words.txt').read_text()\ndef g(envelope):\n    return {'ok'}\n"
    digests = []
    for words in ("a", "a\r\n", "b"):
        from pathlib import Path

        Path(str(grade.__closure__[0].cell_contents)).joinpath("words.txt").write_bytes(words.encode())
        digests.append(grade(source)["loaded"].digests["g"])

    assert 3 == len(set(digests))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        pytest.param("class E(Exception):\n    def __str__(self):\n        while True: pass\ndef g(e):\n    raise E\n", "processor time", id="message"),
        pytest.param("class S(set):\n    def __iter__(self):\n        while True: pass\ndef g(e):\n    return S({'a'})\n", "processor time", id="set"),
        pytest.param("class D(dict):\n    def items(self):\n        open('/etc/hostname')\ndef g(e):\n    return D(a=1)\n", "touched the world", id="items"),
        pytest.param("class T(str):\n    pass\ndef g(e):\n    return {T('ok')}\n", "'T'", id="code"),
        pytest.param("class B(BaseException):\n    pass\ndef g(e):\n    raise B('x')\n", "B: x", id="base exception"),
    ],
)  # fmt: skip
def test_what_a_grader_returns_or_raises_runs_in_the_closed_world_too(grade: Grade, source: str, words: str) -> None:
    """Sets, mappings and exceptions of a grader's own are code of its own."""
    facts = grade(source, timeout_s=0.2)

    assert "grader_error" == facts["status"]
    assert words in facts["error"]


def test_project_code_may_not_read_outside_the_project_while_it_is_imported(grade: Grade) -> None:
    """What a module reads outside the project would not be in its digest."""
    from snapshots.errors import ConfigError

    with pytest.raises(ConfigError, match="outside the project"):
        grade("WORDS = open('/etc/hostname').read()\ndef g(envelope):\n    return {'ok'}\n")


def test_data_read_by_a_late_import_is_refused(grade: Grade, tmp_path: Path) -> None:
    """Data that is read after the digest was taken could change without moving it."""
    (tmp_path / "words.txt").write_text("a")
    (tmp_path / "shared.py").write_text(
        "import pathlib\nWORDS = (pathlib.Path(__file__).parent / 'words.txt').read_text()\n"
    )

    facts = grade("def g(envelope):\n    import shared\n    return {shared.WORDS}\n")

    assert "in a late import" in facts["error"]


def test_a_grader_cannot_speak_for_its_worker(grade: Grade) -> None:
    """Writing to descriptors by number is refused, and nonsense on the worker's line ends only the worker."""
    source = (
        "import os\ndef g(envelope):\n    for fd in range(3, 9):\n        os.write(fd, b'x' * 99)\n    return {'ok'}\n"
    )

    assert "it touched the world: os.write" in grade(source)["error"]
    assert "grader_error" == grade(source.replace("import os", "import posix as os"))["status"]


def test_an_integer_of_6000_digits_is_no_evidence(grade: Grade) -> None:
    """There is a stated limit, and beyond it a message."""
    assert "more than 4000 digits" in grade("def g(envelope):\n    return {'a': 10**6000}\n")["error"]


def test_an_import_error_may_say_anything(grade: Grade) -> None:
    """Half a surrogate pair in an exception's text is no reason to fall silent."""
    from snapshots.errors import ConfigError

    with pytest.raises(ConfigError, match=r"graders\.py:1"):
        grade("raise ValueError('\\ud800')\n")


@pytest.mark.parametrize(
    "change",
    [
        "grade.loop._findings = lambda *a: []",
        "snapshots.envelope.Envelope.__getitem__ = lambda *a: 'x'",
        "del grade.checks.CHECKS",
        "golden.worker.is_ = lambda one, other: True; grade.loop._findings = lambda *a: []",
        "golden.worker._untouched = lambda: lambda own: True; grade.loop._findings = lambda *a: []",
    ],
)
def test_a_grader_that_changes_our_code_is_found_out(grade: Grade, change: str) -> None:
    """Neither a call nor an import may replace what judges: nothing such a process says is used."""
    from snapshots.errors import ConfigError

    head = "import golden.worker, grade.checks, grade.loop, grade.verdict, snapshots.envelope\n"

    facts = grade(f"{head}def g(envelope):\n    {change}\n    return {{'ok'}}\n")

    assert ("grader_error", "a grader ended its worker process (it changed whichclock's own code)") == (
        facts["status"],
        facts["error"],
    )
    with pytest.raises(ConfigError, match="own code"):
        grade(f"{head}{change}\ndef g(envelope):\n    return {{'ok'}}\n")


def test_local_time_is_utc_everywhere(grade: Grade) -> None:
    """What the machine calls local leaves no trace."""
    source = "import datetime, time\ndef g(envelope):\n    return {'a': [datetime.datetime.fromtimestamp(0).isoformat(), time.localtime(0).tm_hour, time.tzname]}\n"

    assert '{"a":{"g":["1970-01-01T00:00:00",0,["UTC","UTC"]]}}' == grade(source)["evidence"]
