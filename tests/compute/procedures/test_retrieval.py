"""References: pytrec_eval (trec_eval's own code) on the same cosines, and the revisited protocol by hand."""

from dataclasses import replace

import numpy as np
import pytest
import pytrec_eval

from compute.procedures import retrieval
from compute.tasks.data import Mixed, Retrieval
from compute.types import BadInput
from tests.compute.procedures.known import BOTH, Known, shown

SUM = {"fusion": "sum"}
QUERIES, DOCUMENTS = 30, 90


def side(vectors, letter, kind="image", *, known):
    """Items with these embeddings; documents' names are of several lengths and in no order."""
    order = np.random.default_rng(len(vectors)).permutation(len(vectors))
    column = {kind: shown(vectors, f"{letter} ", kind=kind, known=known), f"{kind}_at": np.arange(len(vectors))}
    return Mixed(names=tuple(f"{letter}{number}" for number in order), **column)


def overlapping(rng, n):
    """Four ones among 16: cosines are quarters, exact in float32, so most documents tie with many others."""
    out = np.zeros((n, 16), dtype=np.float32)
    np.put_along_axis(out, rng.permuted(np.tile(np.arange(16), (n, 1)), axis=1)[:, :4], 1, axis=1)
    return out


def made(seed=0):
    """A task, its model, its cosines and its grades [queries, documents]."""
    rng = np.random.default_rng(seed)
    first, second = overlapping(rng, QUERIES), overlapping(rng, DOCUMENTS)
    grades = np.where(rng.random((QUERIES, DOCUMENTS)) < 0.05, rng.integers(1, 4, (QUERIES, DOCUMENTS)), 0)
    grades[:, 5] = 1
    known = {}
    queries, documents = side(first, "q", "text", known=known), side(second, "d", known=known)
    query, document = np.nonzero(grades)
    shuffled = rng.permutation(len(query))
    relevant = (query[shuffled], document[shuffled], grades[query, document][shuffled])
    return (
        Retrieval(queries=queries, documents=documents, relevant=relevant),
        Known(known, abilities=BOTH),
        first @ second.T / 4,
        grades,
    )


def trec(data, scores, grades, measures, *, elsewhere=()):
    """trec_eval's figures a query; those `elsewhere` have one more document, of grade 2, that no model can find."""
    names = data.documents.names
    truth = {str(query): {names[at]: int(row[at]) for at in np.flatnonzero(row)} for query, row in enumerate(grades)}
    for query in elsewhere:
        truth[str(query)]["elsewhere"] = 2
    run = {str(query): dict(zip(names, map(float, row), strict=True)) for query, row in enumerate(scores)}
    found = pytrec_eval.RelevanceEvaluator(truth, measures).evaluate(run)
    return [found[str(query)] for query in range(len(scores))]


def test_right_answers_that_the_documents_lack_count_as_never_found_as_in_trec_eval():
    data, known, cosines, grades = made()
    lost = np.arange(0, QUERIES, 3)
    kept = replace(data, missing=(lost, np.full(len(lost), 2)))
    items = retrieval.run(known, kept, SUM).items
    wanted = trec(data, cosines, grades, {"ndcg_cut.10", "map_cut.5"}, elsewhere=lost)
    for metric, theirs in (("ndcg_at_10", "ndcg_cut_10"), ("map_at_5", "map_cut_5")):
        assert items[metric].to_numpy() == pytest.approx([row[theirs] for row in wanted], abs=1e-9)
    only = replace(data, missing=(np.array([0]), np.array([1])), relevant=tuple(part[:0] for part in data.relevant))
    first = retrieval.run(known, only, SUM).items.iloc[0]
    assert (first["ndcg_at_10"], first["expected"]) == (0, "(not among the documents)")


def test_trec_eval_gives_the_same_figures_ties_included():
    data, model, scores, grades = made()
    items = retrieval.run(model, data, SUM).items
    wanted = trec(data, scores, grades, {"ndcg_cut.5,10", "map", "map_cut.5", "success.1,3,10", "recip_rank"})
    for theirs in ("ndcg_cut_5", "ndcg_cut_10", "map", "map_cut_5", "success_1", "success_3", "success_10"):
        ours = theirs.replace("cut", "at").replace("success", "hit_rate_at")
        np.testing.assert_allclose(items[ours], [row[theirs] for row in wanted], atol=1e-9, rtol=0, err_msg=ours)
        assert items[ours].std() > 0, ours
    first = np.array([row["recip_rank"] for row in wanted])
    np.testing.assert_allclose(items["mrr_at_10"], np.where(first >= 0.1, first, 0), atol=1e-9)


def by_angle(angles, queries, **truth):
    """Equal queries, and documents at these angles to them."""
    known, vectors = {}, np.stack([np.cos(angles), np.sin(angles)], axis=1)
    asked = side(np.tile([1.0, 0.0], (queries, 1)), "q", "text", known=known)
    data = Retrieval(queries=asked, documents=side(vectors, "d", known=known), **truth)
    return retrieval.run(Known(known, abilities=BOTH), data, SUM)


@pytest.mark.parametrize("whole", [False, True])
def test_queries_that_ties_decide_are_counted(whole):
    """Where one of two equal documents is right, not both: at ranks 1 and 2, 10 and 11, of all 13 and 14."""
    angles = np.array([0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 10]) / 10
    relevant = np.array([0, 1, 1, 2, 3, 4]), np.array([1, 0, 1, 9, 12, 4]), np.ones(6)
    ignored = (np.zeros(0, dtype=int),) * 2 if whole else None
    assert by_angle(angles, 5, relevant=relevant, ignored=ignored).settings["tied"] == (3 if whole else 2)


def test_only_the_best_1000_are_ranked(monkeypatch):
    monkeypatch.setattr(retrieval, "KEPT", 20)
    data, model, scores, grades = made(1)
    found = retrieval.run(model, data, SUM)
    wanted = trec(data, scores, grades, {"map_cut.20"})
    np.testing.assert_allclose(found.items["map"], [row["map_cut_20"] for row in wanted], atol=1e-9)
    assert found.settings["kept"] == 20


@pytest.mark.parametrize(
    "positive, gone, wanted",
    [(("easy", "hard"), ("junk",), [1, 7 / 12, 17 / 24]), (("hard",), ("easy", "junk"), [1 / 4, 7 / 12])],
)
def test_the_revisited_protocol_takes_junk_out_and_ranks_everything(positive, gone, wanted, monkeypatch):
    """Medium: easy and hard are positive, junk ignored. Hard: only hard are positive, easy and junk ignored.

    By hand: the mean over hits of the mean of the precisions before and at each. The second query has junk alone.
    """
    monkeypatch.setattr(retrieval, "KEPT", 3)  # does not count here
    kinds = np.array([["junk", "easy", "other", "hard", "junk", "hard"], ["junk"] * 6])
    relevant, ignored = (np.nonzero(np.isin(kinds, each)) for each in (positive, gone))
    found = by_angle(np.arange(6) / 10, 2, relevant=(*relevant, np.ones(len(relevant[0]))), ignored=ignored)
    np.testing.assert_allclose(found.items["map"], [np.mean(wanted), np.nan], atol=1e-12)
    assert (found.settings["map"], found.settings["without_relevant"]) == ("trapezoid, whole ranking", 1)


def test_a_query_judged_irrelevant_throughout_scores_0_and_one_without_judgements_has_no_score():
    data, model, *_ = made(5)
    left = data.relevant[0] != 3
    query, document, grade = (side[left] for side in data.relevant)
    found = retrieval.run(model, replace(data, relevant=(query, document, np.where(query == 4, 0, grade))), SUM)
    assert (found.settings["all_irrelevant"], found.settings["without_relevant"]) == (1, 1)
    unjudged, irrelevant = found.items.iloc[3], found.items.iloc[4]
    assert irrelevant["correct"] is False and unjudged["correct"] is None
    assert irrelevant["expected"] == unjudged["expected"] == "" and np.isnan(irrelevant["value"])
    assert unjudged.filter(regex="ndcg|hit_rate|map|mrr|value").isna().all()


def test_evidence_says_what_was_expected_and_by_how_much_it_led():
    vectors, known = np.eye(3, dtype=np.float32), {}
    queries, documents = side(vectors[:2], "q", "text", known=known), side(vectors, "d", known=known)
    relevant = (np.array([0, 1, 1]), np.array([0, 0, 2]), np.array([1, 1, 2]))
    data = Retrieval(queries=queries, documents=documents, relevant=relevant)
    items, names = retrieval.run(Known(known, abilities=BOTH), data, SUM).items, documents.names
    assert items["expected"].tolist() == [names[0], f"{names[2]} and 1 more"]
    assert items["correct"].tolist() == [True, False] and items["value"].tolist() == [1, -1]


def test_data_that_do_not_fit_are_refused():
    data, model, *_ = made(8)
    with pytest.raises(BadInput, match="different grades"):
        retrieval.run(model, replace(data, relevant=tuple(map(np.array, ([0, 0], [1, 1], [1, 2])))), SUM)
    twice = replace(data, relevant=tuple(np.concatenate([part, part]) for part in data.relevant))
    once, again = (retrieval.run(model, each, SUM).items["ndcg_at_10"].tolist() for each in (data, twice))
    assert once == again
