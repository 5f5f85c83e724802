"""What people come for, from the front page in at most three steps, with the answer on the screen.

A press counts one, and so does what is typed into a field and confirmed. Ranking a table of one's own is one command,
and so is what a run costs: `likeness rank` and `likeness run --dry-run`.
"""

import pytest

from tests.browser.conftest import settle

MOST = 3
CLAIM = "All measures have a high positive correlation with the benchmarks"
MODELS = (("First model", "siglp so400m 384"), ("Second model", "EVA02-CLIP bigE/14+"))
# Role and name of what is pressed, or label and text of what is typed; what the page then says.
TASKS = {
    "the best model for a need": (
        [("link", "Choose"), ("link", "Find documents, at most 3 B")],
        r"has the highest mean of the \d+ models that fit, .*ViDoRe v3.* The runner-up is .+: .+[^]*import ",
    ),
    "two models, one misspelt": ([*MODELS], "Did you mean 'SigLIP SO400M/14 384 px'"),
    "two models": (
        [*MODELS, ("Models (type", "SigLIP SO400M/14 384", "option")],
        r"SigLIP SO400M/14 384 px is (significantly )?ahead in",
    ),
    "a smaller suite for mteb": (
        [("button", "Insights"), ("link", "Smaller suite"), ("Number of tasks", "15")],
        r"15 of 130 tasks rank the \d+ models like the whole suite[^]*mteb\.get_tasks\(tasks=\[([^,\]]+,){14}[^,]+\]",
    ),
    "a claim that fails, and its report": ([("link", CLAIM)], r"Conflict[^]*18 of 32 cells[^]*Report a mistake"),
    "what a suite costs": (
        [("button", "Insights"), ("link", "Size & cost"), ("Suite", "MIEB-lite", "option")],
        r"[\d.]+ hours of one device at[^]*--suite mieb-lite",
    ),
}


@pytest.mark.parametrize("task", TASKS)
def test_the_answer_is_at_most_three_steps_away(visit, task):
    steps, said = TASKS[task]
    assert len(steps) <= MOST
    page = visit("", width=1360)
    page.locator(".pg-findings dl").wait_for()
    settle(page)
    for what, name, *offered in steps:
        if what in ("link", "button"):
            page.get_by_role(what, name=name, exact=name != CLAIM).first.click()
            continue
        field = page.get_by_label(what).first
        field.wait_for()
        settle(page)  # what is typed before a page's first answer is not what that answer is read for
        field.fill(name)
        if offered:
            page.get_by_role("option", name=name).first.wait_for()
        field.press("Enter")
    page.wait_for_function(
        "(said) => new RegExp(said).test(document.querySelector('#first, main, gradio-app')?.innerText)", arg=said
    )
