"""Retrieval of documents for queries, with images, texts or both on either side (MIEB retrieval, documents;
UniSim-Bench IR).

The best documents of every query are streamed: scores are computed, compared and dropped block by block. The order is
total, so results do not depend on block sizes: higher scores first, and documents with equal scores by `precedence`.
Score and precedence are packed into one integer per pair, so a single comparison covers both. Memory is a few blocks of
scores, regardless of the number of queries and documents; time is linear in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from compute.arrays import Bools, Floats, Floats32, Ints
from compute.features.subject import Subject
from compute.metrics import ranking
from compute.procedures.evidence import Evidence, Procedure, as_detail, keys_and_texts
from compute.procedures.shared import fusion
from compute.procedures.shared.similarity import Cosines, MaxSim
from compute.tasks.data import Retrieval
from compute.types import BadInput

if TYPE_CHECKING:
    import torch

    # queries, documents -> their scores, float32 [queries, documents]; the caller and the next call may overwrite it
    Scorer = Callable[[slice, slice], torch.Tensor]

QUERIES, DOCUMENTS = 2048, 8192  # a block of scores: 64 MB
ABSENT = -(2**63)  # no document: below every packed score
LOW = 2**32 - 1
SPARSE = 8  # if more than 1 in this many scores of a block can still enter, its own best are searched first


def search(
    scorer: Scorer,
    *,
    queries: int,
    documents: int,
    depth: int,
    precedence: NDArray[np.integer],
    ignored: tuple[NDArray[np.integer], NDArray[np.integer]] | None = None,
    block: tuple[int, int] = (QUERIES, DOCUMENTS),
) -> Iterator[tuple[slice, Ints, Floats32]]:
    """Yields the best `depth` documents of every query, one block of queries at a time: the queries, their documents
    [queries, depth], best first, and the scores. A ranking that ends early is filled with document -1 and score -inf.

    `precedence` (documents,) is a permutation of 0..documents-1: for equal scores, the lower comes first. `ignored`
    (query, document) pairs never appear. Scores must be finite.
    """
    import torch

    depth = min(depth, documents)
    order = np.empty(documents, dtype=np.int64)
    order[np.asarray(precedence)] = np.arange(documents)
    low = LOW - np.asarray(precedence, dtype=np.int64)
    skipped = _by_query(ignored)
    for first in range(0, queries, block[0]):
        rows = slice(first, min(first + block[0], queries))
        best = None
        for start in range(0, documents, block[1]):
            columns = slice(start, min(start + block[1], documents))
            scores = scorer(rows, columns)
            _leave_out(scores, rows, columns, skipped)
            best = _merge(best, scores, low=torch.from_numpy(low[columns]).to(scores.device), depth=depth)
        packed = best.sort(dim=1, descending=True).values
        filled = (packed != ABSENT).cpu().numpy()
        at = order[np.where(filled, LOW - (packed.cpu().numpy() & LOW), 0)]
        yield rows, np.where(filled, at, -1), np.where(filled, _score(packed).cpu().numpy(), np.float32(-np.inf))


def _merge(best: torch.Tensor | None, scores: torch.Tensor, *, low: torch.Tensor, depth: int) -> torch.Tensor:
    """Returns the best `depth` packed scores a row, in any order, of `best` and a new block of scores [rows,
    documents].

    The result is [rows, depth], padded with ABSENT. Only scores that can still enter are packed: those not below the
    worst of `best` and, if there are many, not below a score that `depth` scores of the block reach.
    """
    import torch

    lowest = torch.finfo(torch.float32).min  # above the scores of ignored pairs
    bar, many = torch.full((len(scores), 1), lowest, device=scores.device), True
    if best is not None:
        worst = best.min(dim=1, keepdim=True).values
        bar = torch.where(worst == ABSENT, lowest, _score(worst))
        reach = _at_least(scores, bar)
        many = _count(reach) * SPARSE > scores.numel()
    if many:
        if depth < scores.shape[1]:
            bar = torch.maximum(bar, _lower_bound(scores, depth))
        reach = _at_least(scores, bar)
    flat = _positions(reach)
    # Positions are ascending, so those of a row are contiguous and no division is needed to split rows and columns.
    edges = torch.searchsorted(flat, torch.arange(len(scores) + 1, device=flat.device) * scores.shape[1])
    starts, counts = edges[:-1], edges.diff()
    row = torch.repeat_interleave(counts, output_size=len(flat))
    wide = int(counts.max())
    fresh = torch.full((len(scores) * wide,), ABSENT, dtype=torch.int64, device=scores.device)
    shift = torch.arange(len(scores), device=flat.device) * wide - starts
    fresh[torch.arange(len(flat), device=flat.device) + shift[row]] = _pack(
        scores.view(-1)[flat], low[flat - row * scores.shape[1]]
    )
    fresh = fresh.view(len(scores), wide)
    if best is not None:
        fresh = torch.cat((best, fresh), dim=1)
    if fresh.shape[1] < depth:
        return torch.nn.functional.pad(fresh, (0, depth - fresh.shape[1]), value=ABSENT)
    return _largest(fresh, depth)


def _at_least(scores: torch.Tensor, bar: torch.Tensor) -> torch.Tensor:
    """Returns whether each score [rows, documents] is at least its row's bar [rows, 1]; numpy compares faster than
    torch.
    """
    import torch

    if scores.device.type == "cpu":
        return torch.from_numpy(scores.numpy() >= bar.numpy())
    return scores >= bar


def _count(true: torch.Tensor) -> int:
    return int(np.count_nonzero(true.numpy()) if true.device.type == "cpu" else true.count_nonzero())


def _positions(true: torch.Tensor) -> torch.Tensor:
    """Returns the ascending flat positions of true values; on the CPU, numpy is four times as fast if they are rare."""
    import torch

    if true.device.type == "cpu":
        return torch.from_numpy(np.flatnonzero(true.numpy()))
    return true.view(-1).nonzero().squeeze(1)


def _lower_bound(scores: torch.Tensor, depth: int) -> torch.Tensor:
    """Returns [rows, 1]: a score that at least `depth` scores of each row reach, close to the `depth`-th best.

    It is the `depth`-th best of the maxima of small groups. This takes a quarter of the work if there are eight times
    as many scores as `depth`.
    """
    size = max(1, scores.shape[1] // (2 * depth))
    groups = scores.shape[1] // size
    maxima = scores[:, : groups * size].view(len(scores), size, groups).amax(dim=1)
    return _largest(maxima, depth).amin(dim=1, keepdim=True)


def _largest(values: torch.Tensor, depth: int) -> torch.Tensor:
    """Returns the largest `depth` values of each row in any order; numpy's partition is vectorised, torch's is not."""
    import torch

    if values.device.type == "cpu":
        wide = values.shape[1]
        return torch.from_numpy(np.partition(values.numpy(), wide - depth, axis=1)[:, wide - depth :])
    return values.topk(depth, dim=1, sorted=False).values


def _pack(scores: torch.Tensor, low: torch.Tensor) -> torch.Tensor:
    """Packs scores into int64 that sort like (score, low). A float's bits sort as an integer; those of negative floats
    are mirrored.
    """
    import torch

    bits = (scores + 0.0).view(torch.int32)  # + 0.0: both zeros become one score
    high = torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(torch.int64)
    return high.mul_(2**32).add_(low)


def _score(packed: torch.Tensor) -> torch.Tensor:
    """Returns the scores within packed values; NaN for ABSENT."""
    import torch

    high = (packed >> 32).to(torch.int32)
    return torch.where(high < 0, high ^ 0x7FFFFFFF, high).view(torch.float32)


def _by_query(
    pairs: tuple[NDArray[np.integer], NDArray[np.integer]] | None,
) -> tuple[Ints, Ints]:
    if pairs is None:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    query, document = (np.asarray(side, dtype=np.int64) for side in pairs)
    at = np.argsort(query, kind="stable")
    return query[at], document[at]


def _leave_out(scores: torch.Tensor, rows: slice, columns: slice, pairs: tuple[Ints, Ints]) -> None:
    """Sets the pairs within this block to -inf, which is not a score."""
    import torch

    start, stop = np.searchsorted(pairs[0], (rows.start, rows.stop))
    query, document = pairs[0][start:stop], pairs[1][start:stop]
    inside = (document >= columns.start) & (document < columns.stop)
    if inside.any():
        at = (torch.from_numpy(query[inside] - rows.start), torch.from_numpy(document[inside] - columns.start))
        scores[at] = -torch.inf


KEPT = 1000  # ranked hits per query; MIEB's public code ranks as many
CUT = 10  # the deepest rank used by the metrics, except `map`
SHOWN = 5  # hits a page can show
NOT_THERE = "(not among the documents)"


def run(subject: Subject, data: Retrieval, options: Mapping[str, Any]) -> Evidence:
    """Computes the metrics of every query over its best 1000 documents by cosine, or by MaxSim for late-interaction
    models.

    Equal scores are in descending order of the documents' names, as in trec_eval, which MIEB's public code uses after a
    heap that retains the greater names. `skip_first` drops the first hit before every metric, also as in that code. If
    documents are ignored, the whole collection is ranked and `map` follows the revisited Oxford and Paris definition. A
    query whose judgements all have grade 0 scores 0, as in MIEB's public code; a query without judgements has no
    values. `value` is the score of the first relevant hit minus that of the first other hit. `tied` counts queries for
    which another order of equal scores would change the grades of the first ten hits, or of the whole ranking. Raises
    BadInput for a pair with two grades, CannotDo if the model cannot embed the items.
    """
    whole = data.ignored is not None
    queries = fusion.embed(subject, data.queries, how=options["fusion"])
    documents = fusion.embed(subject, data.documents, how=options["fusion"])
    truth = Truth.of(data)
    skip = int(data.skip_first)
    blocks, scorer = [], (MaxSim if subject.row.late_interaction else Cosines)(queries, documents)
    for rows, found, scores in search(
        scorer,
        queries=len(queries),
        documents=len(documents),
        depth=len(documents) if whole else KEPT + skip,
        ignored=data.ignored,
        precedence=precedence(data.documents.names),
    ):
        ranked, scores = found[:, skip:], scores[:, skip:]
        gains = truth.gains(ranked, rows)
        margins = np.where(truth.relevant[rows] > 0, _margins(gains, scores), np.nan)
        blocks.append(
            figures(gains, truth=truth, rows=rows, trapezoid=whole)
            | {
                "tied": _tied(gains, scores, within=len(documents) if whole else CUT),
                "value": margins,
                "ranked": ranked[:, :SHOWN],
                "scores": (scores[:, :SHOWN] + scorer.base(rows)[:, None]).astype(np.float32),
                "hits": gains[:, :SHOWN] > 0,
            }
        )
    joined = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    settings = {
        "kept": len(documents) if whole else KEPT,
        "without_relevant": int((~truth.judged).sum()),
        "all_irrelevant": int((truth.judged & (truth.relevant == 0)).sum()),
        "map": "trapezoid, whole ranking" if whole else f"first {KEPT}",
        "tied": int(joined.pop("tied").sum()),
    }
    return _evidence(data, truth, joined, settings)


def precedence(names: tuple[str, ...]) -> Ints:
    """Returns (documents,) the rank of each among equal scores: the greatest name first, by its bytes."""
    order = sorted(range(len(names)), key=names.__getitem__, reverse=True)
    out = np.empty(len(names), dtype=np.int64)
    out[order] = np.arange(len(names))
    return out


@dataclass(frozen=True, kw_only=True)
class Truth:
    """Relevance judgements: pairs with a grade above 0, sorted by query and document."""

    documents: int  # including relevant documents that are missing from the data, which come last
    keys: Ints  # (pairs,) query * documents + document
    grade: Floats
    starts: Ints  # (queries + 1,) start of each query's pairs
    judged: Bools  # (queries,) whether a query has a judgement of any grade

    @classmethod
    def of(cls, data: Retrieval) -> Truth:
        """Makes it from a task's data. Raises BadInput for a pair with two grades."""
        query, document, grade = (np.asarray(side) for side in data.relevant)
        documents = len(data.documents)
        if data.missing is not None:
            missing_query, gone = data.missing
            query, grade = np.append(query, missing_query), np.append(grade, gone)
            document = np.append(document, documents + np.arange(len(missing_query)))
            documents += len(missing_query)
        judged = np.bincount(query.astype(np.int64), minlength=len(data.queries)) > 0
        positive = grade > 0
        keys = query[positive].astype(np.int64) * documents + document[positive]
        order = np.argsort(keys, kind="stable")
        keys, grade = keys[order], grade[positive][order].astype(float)
        again = np.append(False, np.diff(keys) == 0)
        if (np.diff(grade)[again[1:]] != 0).any():
            raise BadInput("A document has two different grades for one query")
        keys, grade = keys[~again], grade[~again]
        starts = np.searchsorted(keys, np.arange(len(data.queries) + 1) * documents)
        return cls(documents=documents, keys=keys, grade=grade, starts=starts, judged=judged)

    @property
    def relevant(self) -> Ints:
        """Returns (queries,) the number of relevant documents."""
        return np.diff(self.starts)

    def gains(self, documents: Ints, rows: slice) -> Floats32:
        """Returns the grades of ranked documents [queries of `rows`, depth]; 0 for others and for -1."""
        part = slice(self.starts[rows.start], self.starts[rows.stop])
        keys, grade = self.keys[part], self.grade[part].astype(np.float32)
        if not len(keys):
            return np.zeros(documents.shape, dtype=np.float32)
        sought = documents + np.arange(rows.start, rows.stop)[:, None] * self.documents
        at = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
        return np.where((keys[at] == sought) & (documents >= 0), grade[at], np.float32(0))

    def ideal(self, rows: slice, *, at: int) -> Floats:
        """Returns (queries,) the best possible discounted cumulative gain of the first `at` ranks."""
        part = slice(self.starts[rows.start], self.starts[rows.stop])
        return ranking.ideal_dcg(
            query=self.keys[part] // self.documents - rows.start,
            grade=self.grade[part],
            queries=rows.stop - rows.start,
            at=at,
        )


def figures(gains: Floats32, *, truth: Truth, rows: slice, trapezoid: bool) -> dict[str, Floats]:
    """Returns every metric of some queries, by key: 0 if all judgements have grade 0, NaN without judgements."""
    relevant = truth.relevant[rows]
    area = ranking.trapezoid_average_precision if trapezoid else ranking.average_precision
    columns = {
        **{f"ndcg_at_{at}": ranking.ndcg(gains, ideal=truth.ideal(rows, at=at), at=at) for at in (5, 10)},
        **{f"hit_rate_at_{at}": ranking.hit_rate(gains, relevant=relevant, at=at) for at in (1, 3, 10)},
        "map_at_5": ranking.average_precision(gains, relevant=relevant, at=5),
        "map": area(gains, relevant=relevant),
        "mrr_at_10": ranking.reciprocal_rank(gains, relevant=relevant, at=10),
    }
    nothing = truth.judged[rows] & (relevant == 0)
    return {key: np.where(nothing, 0.0, column) for key, column in columns.items()}


def _margins(gains: Floats32, scores: Floats32) -> Floats:
    """Returns the score of the first relevant hit minus that of the first other hit; the last score replaces a missing
    one.
    """
    if not gains.shape[1]:
        return np.full(len(gains), np.nan)
    finite = np.isfinite(scores)
    last = np.maximum(finite.sum(axis=1) - 1, 0)
    good, bad = (gains > 0), (gains <= 0) & finite
    rows = np.arange(len(gains))
    first, other = (scores[rows, np.where(side.any(axis=1), side.argmax(axis=1), last)] for side in (good, bad))
    margins = np.zeros(len(gains))
    return np.subtract(first, other, out=margins, where=np.isfinite(first) & np.isfinite(other), dtype=float)


def _tied(gains: Floats32, scores: Floats32, *, within: int) -> Bools:
    """Returns (queries,) whether another order of equal scores would change the grades of the first `within` ranks."""
    mixed = (scores[:, 1:] == scores[:, :-1]) & (gains[:, 1:] != gains[:, :-1])
    return (mixed & (scores[:, 1:] >= scores[:, :within][:, -1:])).any(axis=1)


def _evidence(data: Retrieval, truth: Truth, joined: dict[str, NDArray], settings: dict[str, Any]) -> Evidence:
    ranked, scores, hits = joined.pop("ranked"), joined.pop("scores"), joined.pop("hits")
    names = data.documents.names
    order = np.lexsort((-truth.grade, truth.keys // truth.documents))  # a query's best document first
    best = (truth.keys[order] % truth.documents).tolist()
    known = dict(enumerate(names))
    expected = [
        "" if not count else known.get(best[start], NOT_THERE) + (f" and {count - 1} more" if count > 1 else "")
        for count, start in zip(truth.relevant.tolist(), truth.starts[:-1].tolist(), strict=True)
    ]
    rows = [[at for at in row if at >= 0] for row in ranked.tolist()]

    def detail(query: int) -> dict[str, Any]:
        row = rows[query]
        question, results = (
            keys_and_texts(data.queries, np.array([query])),
            keys_and_texts(data.documents, np.array(row, dtype=int)),
        )
        return as_detail([*question, *results]) | {
            "hits": [names[at] for at in row],
            "scores": scores[query, : len(row)].tolist(),
            "relevant": hits[query, : len(row)].tolist(),
        }

    return Evidence.of(
        settings=settings,
        names=data.queries.names,
        expected=expected,
        answer=[names[row[0]] if row else "" for row in rows],
        worth=joined["hit_rate_at_1"],
        value=joined.pop("value"),
        figures=joined,
        detail=[partial(detail, query) for query in range(len(rows))],
    )


PROCEDURE = Procedure(
    key="retrieval",
    needs=({"embed_image"}, {"embed_text"}),
    run=run,
    options={"fusion": fusion.WAYS},
    version=2,
    late_interaction=True,
)
