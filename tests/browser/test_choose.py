"""The guided choice: its answers stand in the address, and change with the questions."""

from __future__ import annotations

from collections.abc import Callable

from tests.browser.axe_rules import grave_violations

FIRST = "#shortlist .ch-list li h3"


def test_answers_come_from_the_address_and_go_into_it(visit: Callable) -> None:
    page = visit("choose?need=documents&size=1b", ready=FIRST)
    assert page.get_by_label("What for").input_value() == "Find pages and documents"
    alone = page.locator(FIRST).all_inner_texts()
    assert 1 <= len(alone) <= 5
    page.get_by_label("Size").click()
    page.get_by_role("option", name="Any", exact=True).click()
    page.wait_for_function("!location.search.includes('size=')")
    page.wait_for_function("(before) => document.querySelector('#shortlist h3').textContent !== before", arg=alone[0])
    assert "need=documents" in page.url
    assert "What is not proved" in page.locator("#shortlist").inner_text()


def test_a_shortlist_can_be_read_by_all(visit: Callable) -> None:
    for look in ({}, {"dark": True}, {"width": 390}):
        page = visit("choose?need=quality", ready=FIRST, **look)
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
        assert grave_violations(page) == []


def test_unknown_answers_show_the_default_and_say_so(visit: Callable) -> None:
    page = visit("choose?need=%3Cb%3E&size=constructor", ready=FIRST)
    assert "unknown value" in page.locator(".pg-message").first.inner_text()
