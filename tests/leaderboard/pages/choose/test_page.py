"""What the page says beside a shortlist, which is frozen in tests/golden."""

from __future__ import annotations

import pytest

from leaderboard.pages.choose.page import shown


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"need": "generators"}, 'href="generators"'),
        ({"need": "judge", "size": "1b"}, "is the only model that fits, with a mean of"),
        ({"need": "judge", "size": "1.5 B"}, "is the only model that fits, with a mean of"),
        ({"need": "judge", "size": "1b", "hardware": "gpu80"}, "is the only model that fits"),  # the narrower limit
    ],
)
def test_one_answer_or_another_page(suite_cache, answers, said):
    assert said in shown(suite_cache, **answers)
