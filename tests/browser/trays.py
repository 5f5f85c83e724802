"""What tests of the tray share: the page against a stand-in server, files for it, and what it told the server."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.tray_stand_in import StandIn, drawn, served

TRAY = ".likeness-tray"
READY = f"{TRAY}[data-ready=true][data-busy=false]"
PICTURE = drawn("#2a6", (320, 240), "PNG")
PUT = """([target, files, kind]) => {
  const data = new DataTransfer();
  for (const { name, type, content } of files) {
    data.items.add(new File([Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0))], name, { type }));
  }
  const node = document.querySelector(target);
  if (kind === 'paste') node.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
  else for (const type of ['dragenter', 'dragover', 'drop']) {
    node.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
  }
}"""


@pytest.fixture(scope="session")
def stand_in() -> StandIn:
    return StandIn()


@pytest.fixture(scope="session")
def tray_address(stand_in: StandIn) -> Iterator[str]:
    with served(stand_in) as found:
        yield found


@pytest.fixture
def open_tray(browser: Any, tray_address: str, stand_in: StandIn) -> Iterator[Callable[..., Any]]:
    """Opens the page with a query string and waits until the server has said what fits. Fails at the end of the test on
    a request to another host and on any error that `expected` (a pattern) does not name."""
    from tests.browser.conftest import PATIENCE, Watch  # which has these fixtures from here

    stand_in.clear()
    watches, made = [], []

    def open_page(
        query: str = "",
        *,
        width: int = 1280,
        expected: str = "",
        script: str = "",
        ready: str = READY,
        touch: bool = False,
        before: Callable[[Any], None] | None = None,
    ) -> Any:
        made.append(browser.new_context(viewport={"width": width, "height": 900}, has_touch=touch, is_mobile=touch))
        made[-1].set_default_timeout(PATIENCE)
        page = made[-1].new_page()
        watches.append(Watch(page, server=tray_address, expected=expected))
        if script:
            page.add_init_script(script)
        if before:
            before(page)
        page.goto(f"{tray_address}{'?' if query else ''}{query}")
        page.wait_for_selector(ready)
        return page

    yield open_page
    stand_in.gate.set()
    for one in made:
        one.close()
    offences = [offence for watch in watches for offence in watch.offences]
    assert not offences, "\n".join(offences)


def file(name: str = "a photo.png", data: bytes = PICTURE, kind: str = "image/png") -> dict[str, Any]:
    return {"name": name, "mimeType": kind, "buffer": data}


def put(page: Any, target: str, *files: dict[str, Any], kind: str = "drop") -> None:
    """Drops files on a node or pastes them there."""
    given = [
        {"name": one["name"], "type": one["mimeType"], "content": base64.b64encode(one["buffer"]).decode()}
        for one in files
    ]
    page.evaluate(PUT, [target, given, kind])


def count(page: Any, number: int) -> None:
    """Waits until the tray holds so many inputs and nothing is under way."""
    page.wait_for_selector(f"{READY}[data-count='{number}']")


def names(page: Any) -> list[str]:
    """What each slot holds, after its label."""
    return page.evaluate("""() => [...document.querySelectorAll('.tr-slot[data-id]')].map((slot) =>
      `${slot.querySelector('.tr-letter').textContent}: ${
        slot.querySelector('.tr-title')?.textContent ?? slot.querySelector('textarea').value}`)""")


def compare(page: Any) -> dict[str, Any]:
    """Presses Compare and hands back what was told to the server."""
    before = page.evaluate("window.told.length")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_function("(before) => window.told.length > before", arg=before)
    return page.evaluate("window.told.at(-1).data")


def told(page: Any) -> int:
    return page.evaluate("window.told.length")


def empty(page: Any) -> Any:
    page.get_by_role("button", name="Clear", exact=True).click()
    count(page, 0)
    return page


def example(page: Any, key: str) -> Any:
    return page.locator(f".tr-example[data-key='{key}']")


def mode(page: Any, title: str) -> Any:
    return page.get_by_role("radio", name=title)


def announced(page: Any, words: str) -> None:
    page.wait_for_function(
        f"(words) => document.querySelector('{TRAY} > .tr-unseen').textContent.includes(words)", arg=words
    )
