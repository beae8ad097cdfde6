"""The results of a batch: filed under what was asked, in any order, with a reason for each that has no answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from capture.modes import Mode
from snapshots.errors import UsageError
from tests.capture.batches import back, ids, lines, of_openai, out, store_results, write
from tests.capture.conftest import Project, outcomes
from tests.capture.server import Asked, ModelServer, Say, completion, say_json


@pytest.fixture
def nine(project: Project) -> Project:
    """Nine cases, written to a batch."""
    project.write(*({"id": f"c{i}", "prompt": f"say {i}"} for i in range(9)))
    out(project)
    return project


def test_results_in_any_order_are_filed_as_calls_would_be(nine: Project, server: ModelServer) -> None:
    """The files of a batch hold the same requests and answers as those of direct calls; then a replay finds them all."""
    bodies = {line["custom_id"]: line["body"] for line in lines(nine.root / "night" / "gpt.jsonl")}
    said = [of_openai(name, completion(f"you said: {body['messages'][0]['content']}")) for name, body in bodies.items()]
    store_results(nine, *reversed(said))
    result = back(nine)

    assert (["recorded"] * 9, 0, 0) == (outcomes(result), result.calls, result.exit_code)
    assert () == result.warnings
    assert ["replayed"] * 9 == outcomes(nine.capture(Mode.REPLAY))
    assert ["unchanged"] * 9 == outcomes(nine.capture(Mode.LIVE))
    snapshot = nine.store.read(next(nine.store.walk()))
    assert "latency_ms" not in snapshot.meta
    assert {"x-request-id": "req_1"} == snapshot.response["headers"]


def test_a_filed_batch_leaves_nothing_to_write(nine: Project) -> None:
    """The next batch is of what is missing: nothing."""
    store_results(nine, *(of_openai(name, completion("ok")) for name in ids(nine)))
    back(nine)
    made = out(nine, nine.root / "next")

    assert (9, 9, {}) == (made.planned, made.recorded, made.files)
    assert ["9 planned: 9 recorded already, 0 refused, nothing to write"] == list(made.lines())
    assert not (nine.root / "next").exists()


def test_filing_twice_stores_nothing_new(nine: Project) -> None:
    """Each answer is the current one already."""
    store_results(nine, *(of_openai(name, completion("ok")) for name in ids(nine)))
    back(nine)
    before = nine.files()

    assert ["unchanged"] * 9 == outcomes(back(nine))
    assert before == nine.files()


REASONS: dict[str, tuple[Callable[[str], dict[str, Any]], str]] = {
    "refused": (
        lambda name: of_openai(name, {"error": {"message": "bad seed", "type": "invalid_request_error"}}, 400),
        "HTTP 400: bad seed",
    ),
    # openai/openai-openapi, issue 302: the specification wants a response where there is none.
    "no response": (
        lambda name: {"id": "b", "custom_id": name, "error": {"code": "server_error", "message": "try later"}},
        "the batch has no answer: server_error: try later",
    ),
    "expired": (
        lambda name: {
            "id": "b",
            "custom_id": name,
            "response": None,
            "error": {
                "code": "batch_expired",
                "message": "This request could not be executed before the completion window expired.",
            },
        },
        "batch_expired: This request could not be executed before the completion window expired.",
    ),
    "cut off": (lambda name: of_openai(name, {"id": "x"}), "HTTP 200, but the body is no chat completion"),
    "no body": (lambda name: of_openai(name, None), "HTTP 200, but the body is no chat completion"),
    "too many": (lambda name: of_openai(name, {"error": {"message": "slow down"}}, 429), "HTTP 429: slow down"),
}


@pytest.mark.parametrize(("line", "why"), REASONS.values(), ids=REASONS.keys())
def test_a_file_of_errors_alone_says_that_nothing_is_answered(
    nine: Project, line: Callable[[str], dict[str, Any]], why: str
) -> None:
    """Each of the nine is failed with the provider's reason; nothing is stored and the exit code is 3."""
    store_results(nine, *(line(name) for name in ids(nine)), file="night/errors.jsonl")
    result = back(nine, "night/errors.jsonl")

    assert (["failed"] * 9, 3) == (outcomes(result), result.exit_code)
    assert all(why in str(row.error) for row in result.rows)
    assert "errors.jsonl: 0 of 9 answered" in result.warnings
    assert [] == nine.files()


def test_the_answers_and_then_the_errors_make_a_whole(nine: Project) -> None:
    """Every request of the batch is a row: missed, until its file is there, and replayed once it is recorded."""
    named = ids(nine)
    store_results(nine, *(of_openai(name, completion("ok")) for name in named[:8]))
    store_results(nine, REASONS["expired"][0](named[8]), file="night/errors.jsonl")
    first = back(nine)
    second = back(nine, "night/errors.jsonl")

    assert (9, 8, 1, 3) == (
        first.summary["planned"],
        first.summary["recorded"],
        first.summary["missed"],
        first.exit_code,
    )
    assert "output.jsonl: 8 of 9 answered" in first.warnings
    assert (9, 8, 1, 3) == (
        second.summary["planned"], second.summary["replayed"], second.summary["failed"], second.exit_code,
    )  # fmt: skip
    assert {"gpt.jsonl": 1} == out(nine, nine.root / "next").files


def of_anthropic(name: str, result: dict[str, Any]) -> dict[str, Any]:
    return {"custom_id": name, "result": result}


MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-tiny",
    "content": [{"type": "text", "text": "Hello."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 3, "output_tokens": 2},
}


def test_the_four_kinds_of_results_of_anthropic(project: Project) -> None:
    """Succeeded is stored; errored, canceled and expired are named."""
    write(project, cases=[{"id": name, "prompt": name, "targets": ["claude"]} for name in "abcd"])
    out(project)
    named = [one["custom_id"] for one in json.loads((project.root / "night" / "claude.json").read_text())["requests"]]
    wrong = {"type": "error", "error": {"type": "invalid_request_error", "message": "max_tokens is missing"}}
    kinds = [{"type": "succeeded", "message": MESSAGE}, {"type": "errored", "error": wrong}]
    kinds += [{"type": "canceled"}, {"type": "expired"}]
    store_results(project, *(of_anthropic(*pair) for pair in zip(named, kinds, strict=True)))
    result = back(project)

    assert ["recorded", "failed", "failed", "failed"] == outcomes(result)
    assert [
        None,
        "the batch has no answer: errored: invalid_request_error: max_tokens is missing",
        "the batch has no answer: canceled",
        "the batch has no answer: expired",
    ] == [row.error for row in result.rows]
    assert "replayed" == outcomes(project.capture(Mode.REPLAY))[0]


def test_answers_of_every_type_are_filed(project: Project, server: ModelServer) -> None:
    """Chat, Responses, messages and embeddings: as a call would have stored them."""

    def answer(asked: Asked) -> Say:
        return say_json(bodies[asked.path])

    bodies: dict[str, Any] = {
        "/v1/chat/completions": completion("Hello."),
        "/v1/messages": MESSAGE,
        "/v1/responses": {
            "id": "resp_1", "object": "response", "status": "completed", "model": "tiny-2",
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]}],
        },
        "/v1/embeddings": {
            "object": "list", "model": "embed-1", "data": [{"object": "embedding", "index": 0, "embedding": [0.5, -1.25]}],
        },
    }  # fmt: skip
    write(project)
    out(project)
    for file, path in {"gpt": "/v1/chat/completions", "resp": "/v1/responses", "vec": "/v1/embeddings"}.items():
        store_results(project, *(of_openai(name, bodies[path]) for name in ids(project, f"night/{file}.jsonl")))
        back(project)
    [claude] = json.loads((project.root / "night" / "claude.json").read_text())["requests"]
    store_results(project, of_anthropic(claude["custom_id"], {"type": "succeeded", "message": MESSAGE}))
    whole = back(project)
    server.fallback = answer

    assert (0, 5) == (whole.exit_code, whole.summary["planned"])
    assert ["unchanged"] * 5 == outcomes(project.capture(Mode.LIVE, environ={"GPT_KEY": "sk-test-key"}))


def test_answers_are_filed_under_what_was_asked(nine: Project) -> None:
    """A prompt edited, a case and the target gone meanwhile: the paid answers are kept under the old requests."""
    asked = {line["custom_id"]: line["body"] for line in lines(nine.root / "night" / "gpt.jsonl")}
    store_results(nine, *(of_openai(name, completion("ok")) for name in asked))
    nine.write({"id": "c0", "prompt": "edited"})
    text = (nine.root / "whichclock.toml").read_text()
    (nine.root / "whichclock.toml").write_text(text.replace("[targets.gpt]", "[targets.other]"))
    result = back(nine)

    assert ["recorded"] * 9 == outcomes(result)
    stored = [nine.store.read(found).request["body"] for found in nine.store.walk()]
    assert sorted(map(str, asked.values())) == sorted(map(str, stored))


def test_cases_that_share_a_request_are_all_rows(project: Project) -> None:
    """One line answers both, and the file names both, as after a call."""
    project.write({"id": "a", "prompt": "hi"}, {"id": "b", "prompt": "hi"})
    out(project)
    store_results(project, *(of_openai(name, completion("ok")) for name in ids(project)))
    result = back(project)

    assert [("a", False), ("b", True)] == [(row.case_id, row.shared) for row in result.rows]
    assert ["a", "b"] == project.store.read(next(project.store.walk())).meta["cases"]


def test_without_a_manifest_todays_suite_says_what_was_asked(nine: Project) -> None:
    """The downloaded file alone is enough while nothing has changed; what it leaves open is told, as with a manifest."""
    store_results(nine, *(of_openai(name, completion("ok")) for name in ids(nine)[:2]))
    (nine.root / "night" / "manifest.jsonl").unlink()
    result = back(nine)

    assert (["recorded"] * 2 + ["missed"] * 7, 3) == (outcomes(result), result.exit_code)
    assert (
        "no manifest.jsonl stands beside the file: what was asked is taken to be what today's suite asks; "
        "results of requests that were edited since are left out"
    ) == result.warnings[0]
    assert "output.jsonl: 2 of 9 answered" == result.warnings[-1]


def test_without_a_manifest_a_file_of_all_results_is_complete(nine: Project) -> None:
    """Rows of targets that the file says nothing of are not missed."""
    store_results(nine, *(of_openai(name, completion("ok")) for name in ids(nine)))
    (nine.root / "night" / "manifest.jsonl").unlink()
    text = (nine.root / "whichclock.toml").read_text()
    other = '[targets.other]\ntype = "openai"\nbase_url = "https://api.example.com/v1"\nmodel = "m"\n'
    (nine.root / "whichclock.toml").write_text(f"{text}\n{other}\n[defaults]\ntargets = ['gpt', 'other']\n")
    result = back(nine)

    assert (["recorded"] * 9, 0) == (outcomes(result), result.exit_code)


def test_a_result_for_a_request_in_which_todays_rules_find_something_is_refused(nine: Project) -> None:
    """The file would hold it in clear."""
    text = (nine.root / "whichclock.toml").read_text()
    (nine.root / "whichclock.toml").write_text(f'{text}\n[redact]\npatterns = {{ name = "say 3" }}\n')
    manifest = nine.root / "night" / "manifest.jsonl"
    named = [line["custom_id"] for line in lines(manifest)[1:] if "say 3" in str(line["request"])]
    store_results(nine, *(of_openai(name, completion("ok")) for name in named))
    result = back(nine)

    assert (1, []) == (result.summary["refused"], nine.files())


def test_lines_that_are_no_result_are_named_and_the_rest_is_filed(nine: Project) -> None:
    """Unknown ids, ids that come twice, cut and odd lines: each is told by its number or its id."""
    named = ids(nine)
    store_results(
        nine,
        *(of_openai(name, completion("ok")) for name in named),
        of_openai(named[0], completion("another")),
        of_openai("nobody-0", completion("whose?")),
        '{"custom_id": "cut',
        "[]",
        '{"custom_id": "x"}',
    )
    result = back(nine)

    assert ["recorded"] * 9 == outcomes(result)
    told = "\n".join(result.warnings)
    assert f"'{named[0]}' has two results; the first answer counts" in told
    assert "'nobody-0' is no request of this batch; it is left out" in told
    assert "line 12 of output.jsonl is no batch result" in told
    assert "line 13 of output.jsonl is no batch result: it has no custom_id" in told
    assert "line 14 of output.jsonl is no batch result: it has neither response nor error" in told
    texts = {nine.store.read(found).response["body"]["choices"][0]["message"]["content"] for found in nine.store.walk()}
    assert {"ok"} == texts


def test_an_answer_wins_over_an_error_of_the_same_id(nine: Project) -> None:
    """Files of answers and errors that were joined: what was answered is answered."""
    named = ids(nine)
    store_results(nine, *(REASONS["refused"][0](n) for n in named), *(of_openai(n, completion("ok")) for n in named))

    assert ["recorded"] * 9 == outcomes(back(nine))


def test_an_answer_that_strict_json_has_no_place_for_is_kept_as_text(one: Project) -> None:
    """Half a surrogate pair in a log probability is an answer, paid for like all others."""
    out(one)
    [name] = ids(one)
    text = json.dumps(of_openai(name, completion("ok", logprobs={"token": "?"}))).replace('"?"', '"\\ud83d"')
    store_results(one, text)

    assert ["recorded"] == outcomes(back(one))
    assert "\\ud83d" in one.store.read(next(one.store.walk())).response["text"]


def test_an_answer_that_holds_a_credential_is_refused(one: Project) -> None:
    """The rules of a capture hold for batches."""
    out(one)
    [name] = ids(one)
    store_results(one, of_openai(name, completion("sk-proj-" + "Ab3" * 16)))

    assert ["refused"] == outcomes(back(one))
    assert [] == one.files()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        pytest.param("", "is empty", id="empty"),
        pytest.param("\n\n", "is empty", id="blank"),
        pytest.param("<html>", "holds no result", id="no JSON"),
        pytest.param(
            '{"custom_id": "nobody-0", "error": {"code": "x"}}', "holds no result of this batch", id="another's"
        ),
    ],
)
def test_a_file_without_results_is_an_error_with_a_remedy(nine: Project, text: str, what: str) -> None:
    """Nothing was filed, and the text says what to do."""
    (nine.root / "night" / "output.jsonl").write_text(text)
    with pytest.raises(UsageError, match=what) as caught:
        back(nine)

    assert caught.value.hint


def test_a_missing_file_is_an_error(nine: Project) -> None:
    """With the name of the file."""
    with pytest.raises(UsageError, match=r"cannot read .*output\.jsonl: No such file"):
        back(nine)


def _edited(lines_: list[Any], **members: Any) -> str:
    return "".join(json.dumps(line) + "\n" for line in [lines_[0], {**lines_[1], **members}])


MANIFESTS: dict[str, tuple[Callable[[list[Any]], str], str]] = {
    "another suite": (lambda old: json.dumps({**old[0], "suite": "t"}) + "\n", "is a batch of suite 't', this is 's'"),
    "another schema": (lambda _: '{"schema": "x/1", "suite": "s"}\n', "is no batch manifest"),
    "empty": (lambda _: "", "is no batch manifest"),
    "no JSON": (lambda _: "{", "is no batch manifest"),
    "an edited request": (lambda old: _edited(old, request={"transport": "http"}), "is no batch manifest"),
    "an edited hash": (lambda old: _edited(old, request_hash="0" * 64), "is no batch manifest"),
    "another trial": (lambda old: _edited(old, trial=1), "is no batch manifest"),
    "a trial that is a text": (lambda old: _edited(old, trial="0"), "is no batch manifest"),
    "cases that are none": (lambda old: _edited(old, cases=[1]), "is no batch manifest"),
    "no case": (lambda old: _edited(old, cases=[]), "is no batch manifest"),
    "a type without batches": (lambda old: _edited(old, type="exec"), "is no batch manifest"),
    "a list": (lambda old: json.dumps(old[0]) + "\n[1]\n", "is no batch manifest"),
}


@pytest.mark.parametrize(("edit", "what"), MANIFESTS.values(), ids=MANIFESTS.keys())
def test_a_manifest_that_is_not_ours_is_refused(nine: Project, edit: Callable[[list[Any]], str], what: str) -> None:
    """Nothing is filed by a manifest that was edited, cut or is of another suite."""
    path = nine.root / "night" / "manifest.jsonl"
    store_results(nine, *(of_openai(name, completion("ok")) for name in ids(nine)))
    path.write_text(edit(lines(path)))
    with pytest.raises(UsageError, match=what):
        back(nine)

    assert [] == nine.files()
