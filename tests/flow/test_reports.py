"""The page of a diff in a real browser: it is quiet, it works by keyboard, and nothing of others is obeyed in it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from diff.html import page
from tests.diff.sides import HOSTILE, Answers, compared, row
from tests.diff.test_html import chat, said
from tests.flow.browser import CHROMIUM, Page, opened

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install --no-install-recommends chromium"),
]

SETTLE = "new Promise(done => setTimeout(() => requestAnimationFrame(() => done(true)), 200))"
COUNT = "document.getElementById('count').textContent"
IDS = "[...document.querySelectorAll('#body button.case')].map(one => one.textContent)"


def in_browser(use: Callable[[Page], Awaitable[Any]], text: str, folder: Path, width: int = 1280) -> Any:
    """Return what a use of a page comes to; the page must neither complain nor ask for anything but itself."""
    path = folder / "page.html"
    path.write_bytes(text.encode())

    async def run() -> Any:
        async with opened(path, folder / "profile", width) as tab:
            found = await use(tab)
            outside = [url for url in tab.requests if url != path.as_uri() and not url.startswith("data:")]
            assert ([], []) == (tab.errors, outside)
            return found

    return asyncio.run(run())


@pytest.fixture(scope="module")
def many() -> str:
    """The page of 250 cases: the first ten newly fail by the model, the next five by the grader."""
    base = [row(f"case {i:03}", tags=["even"] if i % 2 == 0 else ["odd"]) for i in range(250)]
    head = [
        row(f"case {i:03}", answer="2" if i < 10 else "1", code="2" if 10 <= i < 15 else "1", found="bad" if i < 15 else "",
            tags=["even"] if i % 2 == 0 else ["odd"])
        for i in range(250)
    ]  # fmt: skip
    return page(compared(base, head))


@pytest.fixture(scope="module")
def hostile() -> str:
    """The page of cases in which every text is hostile."""
    base, head, store = [], [], Answers()
    for i, text in enumerate(HOSTILE):
        old = row(f"{i} {text}", request=f"{i}", answer="1", tags=[text], reported_model="m")
        new = row(f"{i} {text}", request=f"{i}", answer="2", found="bad", tags=[text], error=text, reported_model=text)
        store.held[old["integrity"]] = chat(text), said("fine")
        store.held[new["integrity"]] = chat(text), said(text, (text, text))
        base.append(old)
        head.append(new)
    return page(compared(base, head, store))


def test_filters_leave_what_they_name(many: str, tmp_path: Path) -> None:
    """By verdict, clock, tag and text, together and alone; clearing brings all back."""

    async def use(tab: Page) -> list[str]:
        counts = [await tab.value(COUNT)]
        for name, value in (("change", "newly_failing"), ("clocks", "grader"), ("tags", "even")):
            await tab.value(
                f"{{ const s = document.getElementById('{name}'); s.value = '={value}'; s.dispatchEvent(new Event('change')); }}"
            )
            counts.append(await tab.value(COUNT))
        await tab.value("document.querySelector('#filter button[type=reset]').click()")
        await tab.value(SETTLE)
        counts.append(await tab.value(COUNT))
        await tab.value("document.getElementById('text').focus()")
        await tab.send("Input.insertText", text="CASE 24")
        await tab.value(SETTLE)
        return [*counts, await tab.value(COUNT)]

    assert [
        "250 cases",
        "15 of 250 cases",
        "5 of 250 cases",
        "3 of 250 cases",  # 010, 012, 014
        "250 cases",
        "10 of 250 cases",  # 240 to 249
    ] == in_browser(use, many, tmp_path)


def test_a_page_holds_a_hundred_cases_and_the_others_are_turned_to(many: str, tmp_path: Path) -> None:
    """Three pages of 250 cases, and what is in the document never grows with their number."""

    async def use(tab: Page) -> list[Any]:
        seen = []
        for _ in range(3):
            seen.append(
                (await tab.value(f"{IDS}.length"), await tab.value("document.getElementById('page').textContent"))
            )
            await tab.value("document.getElementById('next').click()")
        return [*seen, await tab.value("document.getElementById('next').disabled")]

    assert [(100, "page 1 of 3"), (100, "page 2 of 3"), (50, "page 3 of 3"), True] == in_browser(use, many, tmp_path)


def test_keys_find_open_and_close(many: str, tmp_path: Path) -> None:
    """A slash goes to the filter; Enter and Space open the case that has the focus; Escape closes it and leaves the focus there."""

    async def use(tab: Page) -> list[Any]:
        await tab.press("/")
        seen: list[Any] = [
            await tab.value("document.activeElement.id"),
            await tab.value("document.getElementById('text').value"),
        ]
        await tab.value("document.querySelector('#body button.case').focus()")
        for key in ("Enter", "Escape", " ", "Escape"):
            await tab.press(key)
            opened = "document.activeElement.getAttribute('aria-expanded')"
            seen.append(
                (key, await tab.value(opened), await tab.value("document.querySelectorAll('tr.details').length"))
            )
        return seen

    assert [
        "text", "", ("Enter", "true", 1), ("Escape", "false", 0), (" ", "true", 1), ("Escape", "false", 0),
    ] == in_browser(use, many, tmp_path)  # fmt: skip


def test_a_heading_sorts_and_says_so(many: str, tmp_path: Path) -> None:
    """Up, then down; readers of the screen are told by aria-sort."""

    async def use(tab: Page) -> list[Any]:
        seen = []
        for _ in range(2):
            await tab.value("document.querySelector('#head button').click()")
            seen.append(
                (
                    await tab.value("document.querySelector('#head th').getAttribute('aria-sort')"),
                    await tab.value(f"{IDS}[0]"),
                )
            )
        return seen

    assert [("ascending", "case 000"), ("descending", "case 249")] == in_browser(use, many, tmp_path)


def test_hostile_texts_are_inert_when_every_case_is_open(hostile: str, tmp_path: Path) -> None:
    """No script ran, no element is theirs, and no control or bidirectional character reaches the screen."""

    async def use(tab: Page) -> list[Any]:
        await tab.value("document.querySelectorAll('#body button.case').forEach(one => one.click())")
        await tab.value(SETTLE)
        return [
            await tab.value("document.querySelectorAll('tr.details').length"),
            await tab.value("typeof window.hit"),
            await tab.value(
                "document.querySelectorAll('main img, main script, main [onerror], main [onmouseover]').length"
            ),
            await tab.value(
                r"/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]/.test(document.body.innerText)"
            ),
            await tab.value("document.body.innerText.includes('<img src=x onerror=window.hit=1>')"),
        ]

    assert [len(HOSTILE), "undefined", 0, False, True] == in_browser(use, hostile, tmp_path)


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(hostile: str, tmp_path: Path, width: int) -> None:
    """Neither long ids nor answers of one line make a phone scroll sideways, open or not."""

    async def use(tab: Page) -> int:
        await tab.value("document.querySelectorAll('#body button.case').forEach(one => one.click())")
        return await tab.value("document.documentElement.scrollWidth")

    assert in_browser(use, hostile, tmp_path, width) <= width


def test_words_that_differ_are_marked_on_both_sides(tmp_path: Path) -> None:
    """What is gone is struck out, what is new is underlined, and the words between stay plain."""
    old, new, store = row("a"), row("a", answer="2", found="bad"), Answers()
    store.held[old["integrity"]] = chat("When?"), said("It arrives on Friday, I hope.")
    store.held[new["integrity"]] = chat("When?"), said("It arrives on Saturday, I hope so.")

    async def use(tab: Page) -> list[Any]:
        await tab.value("document.querySelector('#body button.case').click()")
        return [
            await tab.value(f"[...document.querySelectorAll('{tag}')].map(one => one.textContent)")
            for tag in ("del", "ins")
        ]

    assert [["Friday"], ["Saturday", " so"]] == in_browser(use, page(compared([old], [new], store)), tmp_path)
