"""Two models' runs compared: over items where both saw the same, over tasks by the suite's rule."""

from dataclasses import replace

import numpy as np
import pytest

from compute.interface.compare import item_difference
from compute.interface.evaluated import Evaluation
from compute.types import BadInput, UnknownKey
from tests.compute.test_build_computed import keep


def test_other_items_or_no_mean_over_items_have_no_difference(tmp_path):
    items = {"item": list("abcdefgh"), "accuracy": 1.0}
    a, b = (keep(tmp_path, mark=mark, items=items, settings={"contents": mark}) for mark in "ab")
    nmi = replace(a, scores=(replace(a.scores[0], metric="nmi"),))
    for second, first, words in ((b, a, "same items"), (nmi, nmi, "NMI"), (nmi, a, "the other by nmi")):
        found = item_difference(first, second)
        assert np.isnan(found.value) and words in found.reason
    same = item_difference(a, a)
    assert same.value == 0 and same.p == 1 and "the same everywhere" in same.reason


def test_an_evaluation_is_compared_over_tasks_and_in_parts_over_items(evaluated):
    eye, dim = evaluated["eye"], evaluated["dim"]
    result = eye.compare(dim)
    assert (result.a, result.b, result.over, result.n) == ("small/eye", "small/dim", "tasks", 5)
    assert result.difference == pytest.approx(eye.mean.mean - dim.mean.mean)
    parts = result.parts.set_index("task")
    assert set(parts["over"]) == {"items"} and set(parts["n"]) == {12}
    by_item = [scores.items("unisim/near").set_index("item")["accuracy"] for scores in (eye, dim)]
    assert parts.loc["unisim/near", "difference"] == pytest.approx((by_item[0] - by_item[1]).mean())
    by_key = eye.compare("small/dim")
    assert by_key.parts.equals(result.parts) and by_key.difference == result.difference
    one = eye.compare(dim, task="unisim/near")
    assert (one.over, one.n) == ("items", 12)
    assert dim.compare(eye, task="unisim/near").difference == pytest.approx(-one.difference)
    with pytest.raises(UnknownKey, match="unisim/near"):
        eye.compare(dim, task="unisim/nears")


def test_a_model_without_scores_or_of_no_catalogue_is_named(evaluated):
    eye = evaluated["eye"]
    with pytest.raises(UnknownKey, match="Did you mean 'small/eye'"):
        eye.compare("small/eyes")
    with pytest.raises(BadInput, match="small/paper"):
        eye.compare("small/paper")
    with pytest.raises(BadInput, match="share no task of small"):
        replace(evaluated["dim"], outcomes=evaluated["dim"].outcomes[:1]).compare(
            replace(eye, outcomes=eye.outcomes[1:])
        )


def test_published_scores_are_named_as_such_and_not_mixed_with_computed_ones(evaluated, monkeypatch):
    """As if the computed scores, but for those of the last task, were published ones of each model."""
    eye, arranged = evaluated["eye"], Evaluation._arranged
    rows = arranged(eye, "computed")
    own = [rows.models.index("small/eye")] * 3
    published = replace(
        rows,
        models=("small/dim", "small/paper", "small/vision"),
        origins=("published",) * 3,
        values=np.where(np.arange(len(rows.tasks)) < 4, rows.values[own], np.nan),
        stderr=rows.stderr[own],
        printed=rows.printed[own],
    )
    monkeypatch.setattr(
        Evaluation, "_arranged", lambda self, origin: published if origin == "published" else arranged(self, origin)
    )
    found = eye.compare("small/paper", task="unisim/near")
    assert (found.a, found.b) == ("small/eye", "small/paper (published)") and len(found.notes) == 1
    result = eye.compare("small/vision")
    assert (result.b, list(result.parts["task"])) == ("small/vision", ["unisim/near", "unisim/odd"])
    assert result.notes == () == eye.compare("small/dim").notes, "computed scores are not mixed with published ones"
