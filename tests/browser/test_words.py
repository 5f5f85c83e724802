"""Screen readers hear words: never the key of a text that Gradio has in no language, in any language of the browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from leaderboard.pages import VIEWS
from tests.browser.conftest import PATIENCE

LOCALES = ("de", "sw", "ja")  # Gradio has texts in the first and the last
DONE = ".cp-result[data-done=yes]"
SLOW = 90_000  # ms: the first answer loads the models
# Every text and every spoken attribute that ever stands in the page, also for a moment, as soon as it comes.
WATCH = r"""
window.keys = [];
window.spoken = [];
(() => {
  const sections = 'annotated_image|audio|blocks|chatbot|checkbox|code|color_picker|common|dataframe|dropdown|errors|'
    + 'file|image|image_editor|label|login|number|plot|radio|slider|status|upload_text|video';
  const key = new RegExp(`^\\s*(${sections})\\.[a-z_0-9]+\\s*$|\\bcommon\\.\\w+|__i18n__`);
  const spoken = ['alt', 'aria-description', 'aria-label', 'aria-valuetext', 'placeholder', 'title'];
  const hear = (text, node) => {
    if (key.test(text)) window.keys.push(`${text.trim().slice(0, 80)} in ${node.outerHTML.slice(0, 120)}`);
  };
  const read = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const { parentElement } = node;
      if (!parentElement || parentElement.closest('script, style')) return;
      hear(node.nodeValue, parentElement);
      if (parentElement.matches('.sr-only[role=status]') && node.nodeValue.trim()) window.spoken.push(node.nodeValue);
    } else if (node.nodeType === Node.ELEMENT_NODE) {
      for (const name of spoken) if (node.hasAttribute(name)) hear(node.getAttribute(name), node);
      node.childNodes.forEach(read);
    }
  };
  const changed = (records) => records.forEach(({ target, addedNodes }) => {
    (addedNodes.length ? addedNodes : [target]).forEach(read);
  });
  new MutationObserver(changed)
    .observe(document, { childList: true, subtree: true, characterData: true, attributeFilter: spoken });
})();
"""


def keys(page: Any) -> list[str]:
    """The keys that stood in the page at any time, and those in the tree that screen readers get."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    names = [str(node.get(part, {}).get("value", "")) for node in nodes for part in ("name", "description", "value")]
    assert len(names) > 30, "the tree is empty"
    return page.evaluate("window.keys") + [name for name in names if "common." in name]


@pytest.fixture(params=LOCALES)
def speaking(request: pytest.FixtureRequest, browser: Any, server: str) -> Iterator[Callable[[str], Any]]:
    """Opens a page in a browser of that language."""
    context = browser.new_context(locale=request.param, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    context.add_init_script(WATCH)

    def open_page(path: str) -> Any:
        page = context.new_page()
        page.goto(server + path, wait_until="load")
        page.locator("h1").first.wait_for()
        return page

    yield open_page
    context.close()


def test_no_page_shows_or_says_a_key_while_it_loads(speaking: Callable) -> None:
    heard = {}
    for view in VIEWS:
        page = speaking(view.key)
        page.wait_for_load_state("networkidle")
        heard[view.key] = keys(page)
        page.close()
    assert {key: found for key, found in heard.items() if found} == {}


def test_an_answer_is_announced_in_words(speaking: Callable) -> None:
    page = speaking("compare?mode=pair&inputs=heart-left,text-heart-left&models=ssim,tiny")
    page.locator(DONE).wait_for(timeout=SLOW)
    page.wait_for_function("window.spoken.includes('Done')", timeout=SLOW)
    assert keys(page) == []


def test_a_redrawn_figure_is_announced_in_words(speaking: Callable) -> None:
    page = speaking("correlations")
    page.locator("#correlations-figure .main-svg").first.wait_for()
    page.get_by_text("MIEB's tasks").click()
    page.wait_for_load_state("networkidle")
    assert keys(page) == []
