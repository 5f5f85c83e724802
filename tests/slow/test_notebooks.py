"""The notebooks of docs/ run, and their pages show what they print."""

import pytest

from tests.slow.notebooks import FOLDER, executed, page


@pytest.mark.parametrize("name", ["choose", "metrics"])
def test_a_notebook_runs_and_its_page_is_up_to_date(name, tmp_path):
    text, figures = page(executed(FOLDER / f"{name}.ipynb", tmp_path), name)
    assert text == (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert all((FOLDER / f"{name}-{at}.svg").is_file() for at in range(1, len(figures) + 1))
