"""The page of a diff: what it holds, and that no text of others is anything but text in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from diff import html
from diff.html_text import Texts
from tests.diff.sides import HOSTILE, Answers, compared, row

ASSETS = Path(html.__file__).parent / "assets"
CHANGED = "Your order left today. It arrives on Saturday."


class Markup(HTMLParser):
    """The elements of a page, its attributes, and the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.scripts: list[str] = []
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        given = dict(attrs)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script" and not self.scripts[-1]:
            self.scripts[-1] = data

    @property
    def cases(self) -> dict[str, dict[str, Any]]:
        """Return the page's data by case id."""
        return {case["id"]: case for case in json.loads(self.scripts[0])["cases"]}


def chat(text: str) -> dict[str, Any]:
    """Return a request document."""
    return {"transport": "http", "body": {"model": "m", "messages": [{"role": "user", "content": text}]}}


def said(text: str, *calls: tuple[str, str]) -> dict[str, Any]:
    """Return a response of chat completions (OpenAI's API reference)."""
    tools = [{"id": "c", "type": "function", "function": {"name": n, "arguments": a}} for n, a in calls]
    message = {"role": "assistant", "content": text, **({"tool_calls": tools} if tools else {})}
    choices = [{"index": 0, "finish_reason": "stop", "message": message}]
    return {"status": 200, "headers": {}, "body": {"object": "chat.completion", "model": "m", "choices": choices}}


def store_of(*held: tuple[dict[str, Any], dict[str, Any], dict[str, Any]]) -> Answers:
    """Return a store that holds request and response of some rows."""
    store = Answers()
    for made, request, response in held:
        store.held[made["integrity"]] = request, response
        store.requests[made["request_hash"]] = request
    return store


def test_equal_inputs_give_equal_bytes() -> None:
    """Neither the time nor an order of sets is in the page."""
    rows = [row("a", tags=["x", "y"]), row("b")], [row("a", answer="2", found="bad worse"), row("b")]

    assert html.page(compared(*rows)) == html.page(compared(*rows))


def test_the_policy_knows_the_one_script_by_its_digest() -> None:
    """A browser hashes the text of the element as it stands in the page (CSP Level 3, section 8.3)."""
    page = Markup(html.page(compared([row("a")], [row("a")])))
    digest = base64.b64encode(hashlib.sha256(page.scripts[1].encode()).digest()).decode()

    assert {
        "default-src 'none'", f"script-src 'sha256-{digest}'", "style-src 'unsafe-inline'", "img-src data:", "base-uri 'none'",
        "form-action 'none'",
    } == set(page.policy.split("; "))  # fmt: skip


def test_a_changed_answer_is_there_before_and_after() -> None:
    """Text, tool call with its arguments, finish reason, findings and the share of the clock."""
    old, new = row("a"), row("a", answer="2", found="bad", evidence=json.dumps({"bad": {"g": "it says Saturday"}}))
    store = store_of(
        (old, chat("Where is it?"), said("Your order left today.")),
        (new, chat("Where is it?"), said(CHANGED, ("get_order", '{"id": "A-17"}'))),
    )
    case = Markup(html.page(compared([old], [new], store))).cases["a"]
    trial = case["trials"][0]

    assert ("newly_failing", "answer_moved_on_frozen_request", ["model"]) == (
        case["change"],
        case["move"],
        case["clocks"],
    )
    assert [["text", "Your order left today."], ["finish reason", "stop"]] == trial["before"]
    assert [
        ["text", CHANGED],
        ["tool call 1", 'get_order {\n  "id": "A-17"\n}'],
        ["finish reason", "stop"],
    ] == trial["after"]
    assert ([], ["bad"]) == (trial["base"].get("findings", []), trial["head"]["findings"])
    assert {"bad by g": "it says Saturday"} == trial["head"]["evidence"]
    assert ({"model": "-1"}, [["model"]]) == (case["shares"], case["cures"])


def test_a_changed_request_is_told_by_pointer_with_both_values() -> None:
    """The values are the documents' own; a member that one side lacks has no value there."""
    old, new = row("a"), row("a", request="2", answer="2")
    longer = chat("Where is it? Be short.")
    longer["body"]["temperature"] = 0
    store = store_of((old, chat("Where is it?"), said("Here.")), (new, longer, said("Here.")))
    case = Markup(html.page(compared([old], [new], store))).cases["a"]

    assert [
        {
            "pointer": "/body/messages/0/content",
            "before": "Where is it?",
            "after": "Where is it? Be short.",
            "part": "prompt",
        },
        {"pointer": "/body/temperature", "before": None, "after": "0", "part": "params"},
    ] == case["request"]


def test_a_changed_expectation_is_told_by_pointer() -> None:
    """The same answer, and another finding is wanted of it; a set is compared whole, for its places say nothing."""
    case = Markup(html.page(compared([row("a")], [row("a", wanted="ok_refusal")]))).cases["a"]

    assert [{"pointer": "/expected", "before": "[]", "after": '[\n  "ok_refusal"\n]'}] == case["expectation"]


def test_a_changed_grader_is_told_by_the_lines_of_its_code() -> None:
    """Where both sides' sources are at hand; one grader of a module shows them, and the others are named."""
    comparison = compared([row("a")], [row("a", code="2", found="bad")])
    comparison.base.source = {"1": {"entry": "g.py", "files": {"g.py": "x = 1\ny = 2\n"}}}.get
    comparison.head.source = {"2": {"entry": "g.py", "files": {"g.py": "x = 1\ny = 3\n"}}}.get
    case = Markup(html.page(comparison)).cases["a"]

    assert [{"pointer": "g", "lines": "--- g.py\n+++ g.py\n@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n+y = 3"}] == case["code"]


def test_what_did_not_move_brings_no_texts() -> None:
    """Its verdict and findings are there, its answer is not: ten thousand of them stay small."""
    quiet = row("quiet", found="ok", wanted="ok")
    store = store_of((quiet, chat("Hello"), said("A secret of forty-two words")))
    text = html.page(compared([quiet], [quiet], store))

    assert "forty-two" not in text
    both = {"status": "pass", "findings": ["ok"], "expected": ["ok"], "finish_reason": "stop"}
    assert [{"trial": 0, "both": both}] == Markup(text).cases["quiet"]["trials"]


def test_changes_of_the_verdict_come_first_then_what_moved_then_the_rest() -> None:
    """The order of the ids is the last to decide."""
    base = [row("a"), row("b", found="bad"), row("c"), row("d"), row("e")]
    head = [row("a"), row("b"), row("c", request="2"), row("d", answer="2", found="bad"), row("e", answer="2")]
    page = Markup(html.page(compared(base, head)))

    assert ["d", "b", "c", "e", "a"] == list(page.cases)


def test_beyond_the_limit_the_page_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of five cases the two that moved most are kept."""
    monkeypatch.setattr(html, "MOST", 2)
    base = [row(i) for i in "abcde"]
    text = html.page(
        compared(base, [row("a"), row("b"), row("c"), row("d", answer="2", found="x"), row("e", request="2")])
    )

    assert ["d", "e"] == list(Markup(text).cases)
    assert "Of 5 cases the 2 that moved most are here" in text


def test_the_waterfall_leads_from_the_base_to_the_head() -> None:
    """One of four cases fails by the model and one by the grader: 1, less a quarter, less a quarter, is a half."""
    base = [row(i) for i in "abcd"]
    head = [row("a", answer="2", found="bad"), row("b", code="2", found="bad"), row("c"), row("d")]
    text = html.page(compared(base, head))
    lines = re.findall(
        r'<tr role="row" class="(\w+)"><th[^>]*>([^<]*)</th><td[^>]*>([^<]*)</td><td[^>]*>([^<]*)<', text
    )

    assert [
        ("total", "base", "", "1.000"),
        ("down", "model", "-0.25", "0.750"),
        ("down", "grader", "-0.25", "0.500"),
        ("total", "head", "", "0.500"),
    ] == lines


def test_added_and_removed_cases_are_lines_of_their_own() -> None:
    """One passes on both sides; of the base's two the failing one is gone, and a failing one is new: a half, one, a half."""
    text = html.page(compared([row("a"), row("old", found="bad")], [row("a"), row("new", request="2", found="bad")]))
    lines = re.findall(
        r'<tr role="row" class="(\w+)"><th[^>]*>([^<]*)</th><td[^>]*>([^<]*)</td><td[^>]*>([^<]*)<', text
    )

    assert [
        ("total", "base", "", "0.500"),
        ("up", "removed cases", "+0.5", "1.000"),
        ("down", "added cases", "-0.5", "0.500"),
        ("total", "head", "", "0.500"),
    ] == lines


def test_long_texts_are_cut_with_a_note() -> None:
    """Twenty thousand characters, and how many more there were."""
    assert f"{'x' * 20_000}\n… (cut: 5 more characters)" == Texts().of("x" * 20_005)


def test_texts_end_where_the_budget_of_the_page_does() -> None:
    """What comes first is worth most; what is left out says how long it was."""
    texts = Texts(budget=10)
    texts.of("0123456789")

    assert "(left out, 3 characters: the texts of this page would be too many)" == texts.of("abc")


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_of_others_becomes_markup(text: str) -> None:
    """Ids, tags, findings, errors, questions and answers are hostile: elements and attributes are those of a page without them."""
    old, new = (
        row(text, tags=[text], reported_model="m"),
        row(text, answer="2", found="bad", tags=[text], reported_model=text, error=text),
    )
    store = store_of((old, chat(text), said("fine")), (new, chat(text), said(text, (text, json.dumps({"a": text})))))
    hostile = compared([old], [new], store)
    hostile.base.notes.append(text)
    hostile.head.name = text
    plain = compared([row("a", reported_model="m")], [row("a", answer="2", found="bad", reported_model="n")])
    plain.base.notes.append("n")
    made, usual = html.page(hostile), html.page(plain)

    assert Markup(usual).tags == Markup(made).tags
    assert Markup(usual).attributes == Markup(made).attributes
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]", made)
    assert not re.search("[<>&]", Markup(made).scripts[0])
    assert 1 == len(Markup(made).cases)


def test_half_a_surrogate_pair_is_shown_and_not_written() -> None:
    """An answer that strict JSON cannot hold is kept as text; what it spells has no UTF-8."""
    old, new = row("a"), row("a", answer="2", found="bad")
    body = json.dumps(said("half \ud83d pair")["body"])
    store = store_of((old, chat("Hi"), said("fine")), (new, chat("Hi"), {"status": 200, "headers": {}, "text": body}))
    page = html.page(compared([old], [new], store))

    assert ["text", "half \\ud83d pair"] == Markup(page).cases["a"]["trials"][0]["after"][0]
    assert page.encode()


def test_the_scripts_make_text_and_no_markup() -> None:
    """None of the ways in which a browser reads markup or code out of a text is used."""
    code = "".join(path.read_text("utf-8") for path in ASSETS.glob("*.js"))

    assert [] == re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(|srcdoc|DOMParser|setHTML", code
    )


def _luminance(colour: str) -> float:
    """Return the relative luminance of ``#rrggbb`` (WCAG 2.1)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_have_the_contrast_of_level_aa(scheme: int) -> None:
    """At least 4.5 to 1 for texts on every ground that they stand on, 3 to 1 for what shows the focus and bars (WCAG 2.1, 1.4.3, 1.4.11)."""
    rules = re.findall(r":root \{(.*?)\}", (ASSETS / "report.css").read_text("utf-8"), re.DOTALL)
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", rules[scheme]))
    texts = [(c, g) for c in ("text", "faint", "link", "bad", "good", "other") for g in ("page", "panel")]
    texts += [(c, f"{c}-back") for c in ("bad", "good", "other")]
    weak = [pair for pair in texts if _contrast(colours[pair[0]], colours[pair[1]]) < 4.5]
    weak += [(c, "page") for c in ("focus", "bar") if _contrast(colours[c], colours["page"]) < 3]

    assert [] == weak
