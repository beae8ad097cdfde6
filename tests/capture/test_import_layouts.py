"""Every layout of a cassette gives the same interaction, and nothing in a cassette is run."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from capture import cassette, cassette_yaml
from snapshots.errors import UsageError
from tests.capture import cassettes
from tests.capture.cassettes import DATE, URL, asked, interaction, only, run, said, stored

ANSWER = json.loads(said("A"))
VERSION_0 = f"""\
- request: !!python/object:vcr.request.Request
    body: !!python/unicode '{asked("Q")}'
    headers: !!python/object/apply:__builtin__.frozenset
    - - !!python/tuple [Accept-Encoding, 'gzip, deflate']
      - !!python/tuple [Anthropic-Version, '2023-06-01']
    host: api.example.com
    method: POST
    path: /v1/chat/completions
    port: 443
    protocol: https
  response:
    body: {{string: !!python/unicode '{said("A")}'}}
    headers: [!!python/unicode "date: {DATE}\\r\\n", !!python/unicode "content-type: application/json\\r\\n"]
    status: {{code: 200, message: OK}}
"""


def one(members: dict[str, Any], **response: Any) -> str:
    """Return a cassette whose response has other members."""
    made = interaction()
    made["response"] = {"headers": {"Date": [DATE]}, "status": {"code": 200}, **response, **members}
    return json.dumps({"interactions": [made]})


LAYOUTS = {
    "string.yaml": cassettes.text(interaction()),
    "string.json": json.dumps({"version": 1, "interactions": [interaction()]}),
    "bare text.json": one({"body": said("A")}),
    "base64.json": one({"body": {"base64_string": base64.b64encode(said("A").encode()).decode()}}),
    "binary.yaml": cassettes.text(interaction(answer={"string": said("A").encode()})),
    "bare binary.yaml": cassettes.text(interaction(answer=said("A").encode())),
    "parsed.yaml": one({"parsed_body": ANSWER}),
    "betamax.json": json.dumps(
        {"http_interactions": [{**interaction(answer={"encoding": "utf-8", "string": said("A")}), "recorded_at": "2020-01-01T00:00:00"}]}
    ),
    "single.json": json.dumps(interaction(answer=said("A"))),
    "list.json": json.dumps([interaction()]),
    "url.json": json.dumps([{**interaction(), "request": {"url": URL, "method": "post", "body": {"string": asked("Q")}}}]),
    "old httpx.json": one({"content": said("A")}, status_code=200, status=None),
    "code.json": one({"body": said("A")}, status="200 OK", code=200),
    "text of status.json": one({"body": said("A")}, status="200 OK"),
    "version 0.yaml": VERSION_0,
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_gives_the_same_request_and_answer(name: str, tmp_path: Path) -> None:
    """Where the body stands, how it is spelled and who wrote it leave no trace."""
    (tmp_path / name).write_text(LAYOUTS[name], encoding="utf-8")
    run(tmp_path / "store", tmp_path / name)
    snapshot = only(tmp_path / "store")
    versions = {"anthropic-version": "2023-06-01"} if name.startswith("version 0") else None

    assert {"transport": "http", "method": "POST", "url": URL, "body": json.loads(asked("Q"))} == {
        member: value for member, value in snapshot["request"].items() if member != "headers"
    }
    assert (versions, ANSWER, 200, "2025-11-30T12:00:00Z") == (
        snapshot["request"].get("headers"), snapshot["response"]["body"], snapshot["response"]["status"], snapshot["recorded_at"],
    )  # fmt: skip


def test_three_forms_of_a_body_in_one_cassette_all_arrive(tmp_path: Path) -> None:
    """A stream under string, JSON under parsed_body and binary frames are neither lost nor empty."""
    chunk = {"choices": [{"index": 0, "delta": {"content": "A"}, "finish_reason": "stop"}]}
    parsed = interaction(asked("Q2"))
    parsed["response"].pop("body")
    parsed["response"]["parsed_body"] = ANSWER
    frames = b"\x00\x01\xff\xfe" * 8
    path = cassettes.write(
        tmp_path / "c.yaml",
        interaction(asked("Q1"), {"string": f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"}),
        parsed,
        interaction(asked("Q3"), {"string": frames}, url="https://api.example.com/file"),
    )
    run(tmp_path / "store", path)
    bodies = {
        s["request"]["body"]["messages"][0]["content"]: s["response"] for s in stored(tmp_path / "store").values()
    }

    assert f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n" == bodies["Q1"]["text"]
    assert ANSWER == bodies["Q2"]["body"]
    assert frames == base64.b64decode(bodies["Q3"]["base64"])


@pytest.mark.parametrize("name", ["c.yaml", "c.json"])
def test_bytes_that_are_no_text_are_kept_as_they_are(name: str, tmp_path: Path) -> None:
    """Nothing is decoded with replacement characters."""
    body = {"base64_string": "/wA="} if name == "c.json" else {"string": b"\xff\x00"}
    run(tmp_path / "store", cassettes.write(tmp_path / name, interaction(answer=body)))

    assert "/wA=" == only(tmp_path / "store")["response"]["base64"]


def test_a_text_that_was_read_byte_by_byte_is_those_bytes(tmp_path: Path) -> None:
    """A recorder that guesses ISO 8859-1 spells the two bytes of an é as two characters."""
    latin = {"encoding": "ISO-8859-1", "string": said("caf\u00e9").replace("\\u00e9", "\u00c3\u00a9")}
    run(tmp_path / "store", cassettes.write(tmp_path / "c.json", interaction(answer=latin)))

    assert "caf\u00e9" == only(tmp_path / "store")["response"]["body"]["choices"][0]["message"]["content"]


def test_the_members_of_an_answer_keep_their_order(tmp_path: Path) -> None:
    """The answer is what was received."""
    run(
        tmp_path / "store",
        cassettes.write(tmp_path / "c.yaml", interaction(answer={"string": '{"z":  1, "a": 2, "m": 3}'})),
    )

    assert ["z", "a", "m"] == list(only(tmp_path / "store")["response"]["body"])


@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        ("1.0e-05", 1e-05), ("1.0e+20", 1e20), ("-0.5", -0.5), ("17", 17), ("9007199254740995", 9007199254740995),
        ("18446744073709551617", 18446744073709551617), ("true", True), ("null", None), ("~", None),
        ("1e5", "1e5"), ("1e10", "1e10"), ("017", "017"), ("0o17", "0o17"), ("0x1F", "0x1F"), ("1:30", "1:30"), ("1_000", "1_000"),
        ("2026-01-01", "2026-01-01"), ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"), ("no", "no"), ("yes", "yes"),
        ("'17'", "17"), ("'true'", "true"), ("!!str 17", "17"), ("!!int 17", 17), ("!!float 17.0", 17.0),
    ],
)  # fmt: skip
def test_a_scalar_is_what_its_dumper_meant(spelled: str, value: Any) -> None:
    """PyYAML writes floats with a dot and quotes texts that it could itself take for numbers; ``1e5`` it writes for a text."""
    read = cassette_yaml.read(f"a: {spelled}").value["a"]

    assert (value, type(value)) == (read, type(read))


@pytest.mark.parametrize("value", ["1e5", "12e4", "017", "0o17", "1:30", "no", "1_000", "=", "<<", "~", "", "1.", ".5", "+1", "0x1f", "2026-01-01", "1.5e5", "0b1", "a\u2028b\u2029", "a\tb", " a ", 1e-7, 1e22, 5e-324, 0.1, -0.0, 10**30, True, None])  # fmt: skip
def test_what_pyyaml_dumps_is_read_back_as_it_was(value: Any) -> None:
    """Its own dump is the best judge of what a dumper meant."""
    import yaml

    dumped = yaml.dump({"a": value, "b": [value]}, Dumper=yaml.SafeDumper, allow_unicode=True)

    assert {"a": value, "b": [value]} == cassette_yaml.read(dumped).value


@pytest.mark.parametrize(
    "tagged",
    [
        '!!python/object/apply:os.system ["touch {marker}"]',
        "!!python/object/apply:subprocess.check_call [[touch, '{marker}']]",
        '!!python/object/new:os.system ["touch {marker}"]',
        "!!python/name:os.system",
        "!!python/module:antigravity",
        "!!python/object/apply:builtins.open ['{marker}', w]",
    ],
)
def test_a_tag_builds_nothing_and_calls_nothing(tagged: str, tmp_path: Path) -> None:
    """It is read as the data that it stands on; the interaction is imported with a caveat and no marker appears."""
    marker = tmp_path / "marker"
    path = tmp_path / "c.yaml"
    path.write_text(f"evil: {tagged.replace('{marker}', str(marker))} ''\n" if tagged.endswith(("system", "antigravity")) else f"evil: {tagged.replace('{marker}', str(marker))}\n", encoding="utf-8")  # fmt: skip
    path.write_text(path.read_text("utf-8") + cassettes.text(interaction()), encoding="utf-8")
    result = run(tmp_path / "store", path)

    assert (1, True, False) == (result.summary()["imported"], result.files[0].tagged, marker.exists())


def test_a_name_with_a_tag_is_the_text_that_it_holds(tmp_path: Path) -> None:
    """A subclass of text was dumped as a complex key: its one argument is the name."""
    key = "? !!python/object/apply:multidict._multidict.istr\n      - anthropic-version\n      : - '2023-06-01'"
    text = cassettes.text(interaction()).replace("User-Agent:\n      - recorder/1", key)
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    result = run(tmp_path / "store", tmp_path / "c.yaml")

    assert key in text
    assert ({"anthropic-version": "2023-06-01"}, True) == (
        only(tmp_path / "store")["request"]["headers"],
        result.files[0].tagged,
    )


def test_headers_are_found_in_any_case_and_in_bytes(tmp_path: Path) -> None:
    """Names differ in case from recorder to recorder; values may be lists, bare texts or bytes."""
    made = interaction(date=None)
    made["response"]["headers"] = {"DATE": DATE, "Content-Type": [b"application/json"]}
    run(tmp_path / "store", cassettes.write(tmp_path / "c.yaml", made))
    snapshot = only(tmp_path / "store")

    assert ("2025-11-30T12:00:00Z", "application/json") == (
        snapshot["recorded_at"], snapshot["response"]["headers"]["content-type"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", "it is no cassette"),
        ("[]", "it is no cassette"),
        ("", "it is no cassette"),
        ("just a text", "it is no cassette"),
        ("interactions: 7", "it is no cassette"),
        ("a: [1", "it is not YAML"),
        ("a: *b", "alias *b has no anchor"),
        ("a: &x [*x]", "alias *x has no anchor before it"),
        ("a: 1\na: 2", "the name 'a' stands twice"),
        ("? {a: 1}\n: 2", "a name is neither a text nor a list of one"),
        ("a: 1\n---\nb: 2", "a second document starts"),
        ("a: " + "9" * 5000, "a number has 5000 digits"),
        ("a: !!binary '###'", "line 1: "),
        ("[" * 300 + "]" * 300, "more than 200 nested containers"),
        ("a: \x00", "it is not YAML"),
        ("a: &a [" + "x, " * 99 + "x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [" + f"*{chr(97 + i)}, " * 99 + f"*{chr(97 + i)}]\n" for i in range(6)), "aliases repeat more than"),
    ],
)  # fmt: skip
def test_what_is_no_cassette_is_said_in_one_line(text: str, reason: str) -> None:
    """Other files, damaged ones and bombs end in a message with the place."""
    with pytest.raises(UsageError) as error:
        cassette.parse(text.encode(), is_json=False)

    assert reason in error.value.message
    assert "\n" not in error.value.message


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", b"{", b'{"a": 1, "a": 2}', b'{"interactions": [' + b"[" * 3000, b"NaN", b'"\\ud83d"']
)
def test_json_that_is_no_cassette_is_said_too(data: bytes) -> None:
    """The same holds for JSON."""
    with pytest.raises(UsageError):
        cassette.parse(data, is_json=True)


def test_a_snapshot_of_ours_is_no_cassette(tmp_path: Path) -> None:
    """A folder may hold a store beside its cassettes."""
    run(tmp_path / "store", cassettes.write(tmp_path / "c.json", interaction()))
    (file,) = (tmp_path / "store" / "sha256").rglob("*.json")

    with pytest.raises(UsageError):
        cassette.load(file)
