"""What redaction takes out of requests and answers, what it leaves, and what it keys."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.credential import credentials
from golden.redaction import Redaction
from snapshots.errors import JsonError

KINDS = ("api_key", "card", "email", "phone")
ALL = Redaction(kinds=KINDS)

TAKEN = {
    "api_key": [
        "sk-test-abcdef0123456789",
        "sk-proj-Ab3dEf6hIj9lMnOp",
        "sk-lf-1a2b3c4d-0000-4000-8000-5e6f7a8b9c0d",
        "pk_live_0123456789abcdefABCDEF",
        "AKIA0123456789ABCDEF",
        "AIza0123456789abcdefghijklmnopqrst",
        "ghp_0123456789abcdefghij",
        "github_pat_0123456789abcdefghij",
        "glpat-0123456789abcdef",
        "hf_abcdefghijklmnopqrst",
        "xoxb-0123456789-abcdef",
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ0ZXN0In0.c2lnbmF0dXJl",
        "-----BEGIN PRIVATE KEY-----\nMIIBVAIBADANBgkqhkiG9w0BAQEF\n-----END PRIVATE KEY-----",
    ],
    "card": [
        "4111111111111111",
        "4111 1111 1111 1111",
        "5555-5555-5555-4444",
        "3782 822463 10005",
        "378282246310005",
        "6011111111111117",
        "30569309025904",
    ],
    "email": ["ann@example.com", "o'brien+x@mail.example.co.uk", "ann%40example.com", "jörg@münchen.example", "a@163.com"],
    "phone": [
        "+1 (555) 010-0199",
        "+15550100199",
        "+49 171 5550199",
        "+1.555.010.0199",
        "555-010-0199",
        "(555) 010-0199",
        "0171 5550199",
        "020 7946 0018",
    ],
}  # fmt: skip
LEFT = [
    "order A-17, invoice INV-2026-000123, ticket 12345",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",  # SHA-256 of "test"
    "2026-11-30 02:00:00, 2026-11-30T02:00:00+01:00, 30.11.2026 and 2024-01-02 2024-01-03",
    "version 1.2.3, 10.0.19045.3693 and lodash@4.17.21",
    "DE89 3704 0044 0532 0130 00 and GB29 NWBK 6016 1331 9268 19",
    "4111111111111112 fails the check digit, and 1764504000123 is a time",
    "3f1c2d4e-0000-4000-8000-1a2b3c4d5e6f",
    "+0.12345678 and -1.5e+10, +1.23456789",
    "a@b and @mention, user at example dot com",
    "192.168.0.1:8080, 127.0.0.1",
    "sk-toggleable__content sk-text-repr-fallback sk-estimator-doc-link",
    "xoxo-hugs-and-kisses, task-oriented-programming",
    "the line -----BEGIN PRIVATE KEY----- comes first",
    "eyJust a word. Another. And one more.",
    "ORD-4111111111111111",
]


def taken(value: Any, rules: Redaction = ALL) -> Any:
    return rules.response({"body": value})[0]["body"]


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in TAKEN.items() for text in texts])
def test_a_kind_takes_out_what_it_names(kind: str, text: str) -> None:
    """Within a sentence, the whole of it and nothing else."""
    assert f"It is [redacted:{kind}], she said." == taken(f"It is {text}, she said.", Redaction(kinds=(kind,)))


@pytest.mark.parametrize("text", LEFT)
def test_what_only_looks_like_one_stays(text: str) -> None:
    """Order ids, hashes, dates, versions, account numbers, and numbers without a sound check digit."""
    assert text == taken(text)


def test_a_pattern_is_named_where_it_took_something_out() -> None:
    """Its name stands in the place; the hit has the pointer."""
    rules = Redaction(patterns=(("customer", r"C-\d{6}"),))
    kept, hits = rules.response({"status": 200, "body": {"a": [{"b": "for C-123456"}]}})

    assert {"status": 200, "body": {"a": [{"b": "for [redacted:customer]"}]}} == kept
    assert [("/response/body/a/0/b", "customer")] == [(hit.pointer, hit.rule) for hit in hits]


def test_a_pointer_takes_out_what_it_leads_to() -> None:
    """Star is any item or member; what is not there, null, and other parts stay."""
    rules = Redaction(
        pointers=("/request/body/user", "/request/body/messages/*/name", "/request/body/a~1b", "/request/body/no")
    )
    body = {"user": {"id": 1}, "messages": [{"name": "Ann", "content": "hi"}, {"name": None}], "a/b": 1, "a": {"b": 2}}
    kept, hits = rules.request({"transport": "http", "url": "https://example.com", "body": body})

    assert {
        "user": "[redacted]",
        "messages": [{"name": "[redacted]", "content": "hi"}, {"name": None}],
        "a/b": "[redacted]",
        "a": {"b": 2},
    } == kept["body"]
    assert ["/request/body/user", "/request/body/messages/0/name", "/request/body/a~1b"] == [
        hit.pointer for hit in hits
    ]


def test_a_pointer_leads_to_nothing_that_says_what_a_document_is() -> None:
    """Without its transport or its status nobody could read a file."""
    document = {"transport": "http", "method": "POST", "url": "https://example.com", "body": {}}

    assert document == Redaction(pointers=("/request/transport", "/request/method")).request(document)[0]


@pytest.mark.parametrize("part", ["url", "body", "body_text", "command", "stdin"])
def test_all_that_a_request_says_is_searched(part: str) -> None:
    """Every part that is kept in clear."""
    document = {"transport": "http", part: {"x": "ann@example.com"}}

    assert {"transport": "http", part: {"x": "[redacted:email]"}} == ALL.request(document)[0]


def test_headers_and_text_of_an_answer_are_searched() -> None:
    """A kept header may name somebody."""
    kept, _ = ALL.response({"status": 200, "headers": {"server": "ann@example.com"}, "text": "+15550100199"})

    assert {"status": 200, "headers": {"server": "[redacted:email]"}, "text": "[redacted:phone]"} == kept


@pytest.mark.parametrize("method", ["request", "response"])
def test_member_names_are_searched(method: str) -> None:
    """The name goes, its value stays, and the pointer of a hit does not tell the name."""
    kept, hits = getattr(ALL, method)({"body": {"ann@example.com": {"x": "bob@example.com"}}})

    assert {"body": {"[redacted:email]": {"x": "[redacted:email]"}}} == kept
    assert [f"/{method}/body", f"/{method}/body/[redacted:email]/x"] == [hit.pointer for hit in hits]


@pytest.mark.parametrize("method", ["request", "response"])
def test_two_names_that_become_one_are_an_error(method: str) -> None:
    """One of the two values would be lost."""
    with pytest.raises(JsonError, match="two members one name"):
        getattr(ALL, method)({"body": {"ann@example.com": 1, "bob@example.com": 2}})


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"to": "ann@example.com"}', {"to": "[redacted:email]"}),
        (r'{"to": "first\nann@example.com"}', {"to": "first\n[redacted:email]"}),
        (r'{"to": "ann\u0040example.com"}', {"to": "[redacted:email]"}),
        ('{"card": 4111111111111111}', {"card": "[redacted:card]"}),
        ('{"ann@example.com": 1}', {"[redacted:email]": 1}),
        (json.dumps({"inner": json.dumps({"to": "a\nann@example.com"})}), {"inner": '{"to": "a\\n[redacted:email]"}'}),
        ('{"half": "\\ud83d", "to": "ann@example.com"}', {"half": "\ud83d", "to": "[redacted:email]"}),
    ],
)
def test_arguments_of_a_tool_call_stay_json(arguments: str, expected: Any) -> None:
    """Rules see what the text says, escapes read; what is written again parses and can be written as UTF-8."""
    text = taken({"arguments": arguments})["arguments"]

    assert expected == json.loads(text)
    assert text.encode()


@pytest.mark.parametrize(
    "text", ['{"x":1}', '{ "x" : "a\\n" }', "{not json ann@example", '{"n": 123456789012345678901234567890}']
)
def test_text_without_a_hit_is_left_as_it_is(text: str) -> None:
    """Not even a space moves."""
    assert text == taken(text)


def test_a_member_given_twice_is_not_lost() -> None:
    """Such a text is searched as it stands."""
    assert '{"a": 1, "a": "[redacted:email]"}' == taken('{"a": 1, "a": "ann@example.com"}')


def test_the_events_of_a_stream_stay_json() -> None:
    """An escape before a match is no part of it, and counts and line ends stay."""
    text = (
        'event: x\r\ndata: {"t":"a\\nann@example.com","created":1764504000}\r\n\r\ndata: {"t":"b"}\n\ndata: [DONE]\n\n'
    )
    rules = Redaction(kinds=("email",), patterns=(("id", r"\d{9}"),))
    expected = text.replace(
        '{"t":"a\\nann@example.com","created":1764504000}', '{"t": "a\\n[redacted:email]", "created": 1764504000}'
    )

    assert expected == rules.response({"text": text})[0]["text"]


def test_a_whole_number_is_taken_out_where_all_of_it_matches() -> None:
    """A number is no text to take digits from, and counts of tokens stay."""
    rules = Redaction(patterns=(("social", r"\d{9}"), ("any", r"\d+")), kinds=("card",))
    body = {"social": 123456789, "card": 4111111111111111, "tokens": 999_999, "price": 12.5, "is": True, "none": None}

    assert {
        "social": "[redacted:social]",
        "card": "[redacted:any]",
        "tokens": 999_999,
        "price": 12.5,
        "is": True,
        "none": None,
    } == taken(body, rules)


@pytest.mark.parametrize(
    "rules",
    [
        Redaction(patterns=(("name", "[a-z]+"),)),
        Redaction(patterns=(("a", "redacted"), ("b", r"\["), ("c", r"\w"))),
        Redaction(patterns=(("greedy", ".+"),), kinds=KINDS),
        Redaction(pointers=("/response/body", "/response/body/x")),
    ],
)
@pytest.mark.parametrize("value", ["ann [redacted] x [redacted:old] y", {"x": ["[redacted:a]b", "c"]}])
def test_what_was_taken_out_is_not_taken_out_again(rules: Redaction, value: Any) -> None:
    """A second pass finds nothing, even where a rule would match its own mark."""
    once = rules.response({"body": value})[0]

    assert (once, []) == rules.response(once)


_WORDS = st.sampled_from(
    [t for texts in TAKEN.values() for t in texts] + LEFT + ["ann@", "+49", "4111", '{"a":"', '\\n"}', "-", " "]
)


@given(st.lists(st.one_of(_WORDS, st.text(max_size=5)), max_size=6).map("".join))
def test_redaction_is_idempotent(text: str) -> None:
    """Whatever stands side by side."""
    once = taken({"x": text})

    assert once == taken(once)


@given(st.recursive(st.one_of(st.none(), st.booleans(), st.floats(allow_nan=False), st.integers(), st.text(max_size=9)),
                    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=3), v, max_size=3), max_leaves=8))  # fmt: skip
def test_no_rules_change_nothing(value: Any) -> None:
    """Neither does a rule set that finds nothing."""
    rules = Redaction(patterns=(("never", "(?!)x"),))

    assert ({"body": value}, []) == Redaction().response({"body": value})
    assert ({"body": value}, []) == rules.response({"body": value})


def test_each_rule_is_in_the_digest() -> None:
    """Whoever reads a file can tell which rules it was written under; the order of kinds and pointers is none."""
    sets = [
        Redaction(),
        Redaction(pointers=("/request/body/user",)),
        Redaction(patterns=(("a", "x"),)),
        Redaction(patterns=(("b", "x"),)),
        Redaction(patterns=(("a", "y"),)),
        Redaction(patterns=(("a", "x"), ("b", "y"))),
        Redaction(patterns=(("b", "y"), ("a", "x"))),
        Redaction(kinds=("email",)),
        Redaction(kinds=("phone",)),
        Redaction(allow=("sk-test-.*",)),
    ]

    assert len(sets) == len({rules.digest for rules in sets})
    assert Redaction(kinds=("email", "phone")).digest == Redaction(kinds=("phone", "email")).digest


def test_an_allowed_text_is_no_key() -> None:
    """What the suite says is no credential is not taken out as one."""
    rules = Redaction(kinds=("api_key",), allow=("sk-test-[a-z0-9]+",))

    assert "sk-test-abcdef0123456789 [redacted:api_key]" == taken(
        "sk-test-abcdef0123456789 sk-prod-abcdef0123456789", rules
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r'"ann\u0040example.com"', '"[redacted:email]"'),
        ('```json\n{"to": "ann\\u0040example.com"}\n```', '```json\n{"to": "[redacted:email]"}\n```'),
        (r"to \\u0061nn\\u0040example.com", "to [redacted:email]"),
        (r'{"broken": "ann\u0040example.com"', '{"broken": "[redacted:email]"'),
        (r'"\u0022 \ud83d\ude00 ann\u0040example.com"', '"\\u0022 😀 [redacted:email]"'),
        (r"\u0041 is a letter, \/ a slash", r"\u0041 is a letter, \/ a slash"),
    ],
)
def test_escapes_hide_nothing_from_the_rules(text: str, expected: str) -> None:
    """In a text that is no JSON object: a quoted one, one in a fence, a broken one. Without a match it stays as it is."""
    assert expected == taken(text, Redaction(kinds=("email",)))


@pytest.mark.parametrize(
    "text", [r'"sk-t\u0065st-abcdef0123456789"', '```\n{"k": "\\u0073k-test-abcdef0123456789"}\n```']
)
def test_escapes_hide_no_credential(text: str) -> None:
    """The same texts hold what would be refused."""
    assert ["/a"] == list(credentials({"a": text}))
