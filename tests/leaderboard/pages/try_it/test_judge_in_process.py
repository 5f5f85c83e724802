"""The playground with a VLM that runs in the app's own process: asked by a press only, in both orders."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from compute.live.roster import Roster
from compute.types import BadInput
from leaderboard.live.live import Live
from leaderboard.pages.try_it import perturb
from leaderboard.pages.try_it.ratings import ShownChange
from tests.compute.models.judges.test_vlm import row
from tests.compute.models.multimodal import qwen2_vl

VIEW = {"image": 0, "by": "rotate", "amount": 45.0}
PAYLOAD = {
    "session": "0123456789abcdef-0123",
    "mode": "pair",
    "inputs": [{"kind": "example", "key": "coffee"}, {"kind": "example", "key": "cat"}],
    "models": ["org/tiny"],
}


@pytest.fixture
def site(suite_cache, tmp_path, monkeypatch):
    """The app with a tiny, randomly initialised Qwen2-VL as its only model."""
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path / "answers"))
    vlm = replace(row(qwen2_vl(tmp_path)), abilities=("choose", "score_pair"), modalities=("image", "text"))
    live = Live()
    live.roster = Roster((vlm,), pool=live.pool, network=lambda: False)
    return SimpleNamespace(live=live, db=suite_cache.db, suite_cache=suite_cache)


def asked(site: Any, *, pressed: bool) -> tuple[str, dict[str, Any]]:
    fields = {"view": VIEW, "judge": "org/tiny", "pressed": pressed}
    markup, facts = perturb.asked(site, PAYLOAD, None, fields=fields, keys=["org/tiny"], turn=1)
    return str(markup), json.loads(facts)


def test_a_vlm_in_process_answers_both_orders_and_its_words_are_shown(site):
    view = ShownChange.read(VIEW)
    rows = site.live.models(["org/tiny"])
    *_, (before, facts) = perturb.rated(site, PAYLOAD, view=view, rows=rows)
    assert "not asked yet" in before and json.loads(facts)["judges"] == [
        {"key": "org/tiny", "title": "Tiny", "questions": 4, "requests": 0}
    ]
    with pytest.raises(BadInput, match="press Ask the judges"):
        asked(site, pressed=False)
    after, facts = asked(site, pressed=True)
    assert facts["turn"] == 1 and facts["message"] == ""
    assert "not asked yet" not in after
    # Untrained, it writes no score: both orders under both conditions have none, and its own words stand below.
    assert after.count('<b class="cp-invalid">no score</b>') == 4
    assert len(re.findall(r"<small>The answer .*?: <q dir=\"auto\">.+?</q></small>", after, re.S)) == 4
    assert asked(site, pressed=True)[0] == after
    pair = view.pair(site.live.read(PAYLOAD)[0])
    for _, _, rating in site.live.ratings(pair, rows, session=PAYLOAD["session"]):
        assert len(rating.replies) == 2 and all(rating.replies) and all(rating.problems)
