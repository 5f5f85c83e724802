"""What a shortlist cannot be asked for; what it finds is frozen in tests/golden."""

from __future__ import annotations

import pytest

from compute.types import BadInput
from leaderboard.data.shortlist import Conditions, shortlist

ANY = Conditions()


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"need": "serch"}, "search"),
        ({"conditions": Conditions(language="klingon")}, "language"),
        ({"conditions": Conditions(license="permisive")}, "permissive"),
    ],
)
def test_an_unknown_answer_is_an_error_with_the_known_ones(suite_cache, wrong, key):
    with pytest.raises(BadInput, match=key):
        shortlist(suite_cache, **({"need": "search", "conditions": ANY} | wrong))
