"""Tables of pairs scored turn by turn: the numbers of single comparisons, a reason for every score that is missing."""

import csv
import io
import json
from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from compute.analysis.calibrated import Calibrations, Domain, DomainCheck, place
from compute.live import batch as tables
from compute.live.questions import Answer, cannot
from compute.live.roster import Availability, Listed
from compute.types import BadInput
from leaderboard.live.live import Live
from leaderboard.live.uploads import Uploads
from leaderboard.pages.try_it import batch
from leaderboard.pages.try_it.batch import PairScoring, Tables, answered
from tests.compute.live import zips
from tests.compute.live.pictures import png
from tests.compute.live.test_questions import reference, row

SESSION = "0123456789abcdef"


class Judge:
    """Stands in for Live where models are asked: a score by the second text's length, and what it was asked."""

    def __init__(self, *held, score=None, unit="cosine"):
        self.asked = []
        self.held, self.score, self.unit = Calibrations(references=held), score, unit

    def answers(self, question, rows, **given):
        assert not given["controls"], "unrelated examples would be compared for nothing"
        for one in rows:
            text = question.inputs[1].content
            self.asked.append((one.key, text))
            given["cache"]["vector", one.key, text] = np.zeros(1_000_000, np.float32)
            if text == "crash":
                raise RuntimeError("what nobody expected")
            if text == f"no {one.key}":
                yield Answer(row=one, problem="It compares no texts")
                continue
            own = self.held.of(one.key, "text-text").references if self.unit == "cosine" else ()
            score = len(text) / 7 if self.score is None else self.score
            yield Answer(
                row=one, scores=(score,), unit=self.unit, domain=DomainCheck(reference=own[0] if own else None)
            )


def clock():
    """Each look at it is a second later."""
    return count(1.0).__next__


def model(key):
    return replace(row(key), abilities=("embed_text",))


def held(key, pairing="text-text", **changes):
    return replace(reference(key, pairing), **{"source": "Drawn pairs", "domain": "drawn"} | changes)


ONE, TWO = map(model, ("one", "two"))


def work(*lines, models=(ONE, TWO), **options):
    data = "\n".join(["name,first,second", *lines]).encode()
    return PairScoring(batch=tables.read(data), models=models, clock=clock(), **options)


def finished(begun, live):
    while begun.batch:
        begun.turn(live)
    return read(begun)


def read(begun):
    return pd.read_csv(io.StringIO(begun.record()["csv"]), dtype=str, keep_default_na=False)


def test_real_models_give_the_numbers_of_single_comparisons():
    live = Live()
    anywhere = Domain(model="tiny", name="drawn", modality="image", limit=np.inf, vectors=np.zeros((1, 128)))
    own = held("tiny", "image-image")
    rows = b"first,second\nexample:astronaut,red.png\nred.png,none.png\nexample:text-cat,red.png\nred.png,red.png\n"
    data = zips.packed({"pairs.csv": rows, "red.png": png("red", (64, 64))})
    begun = PairScoring(batch=tables.read(data), models=tuple(map(live.roster.row, ("tiny", "ssim"))))
    live.calibrations = lambda: Calibrations(references=(own,), domains=(anywhere,))
    (single,) = live.answers(begun.batch.question(begun.batch.rows[0]), [live.roster.row("tiny")], controls=False)
    found = finished(begun, live)
    assert [begun.record()[name] for name in ("state", "done", "left", "problems")] == ["done", 4, None, 1]
    parts = ["tiny score", "tiny percentile", "tiny reading", "ssim score"]
    assert list(found) == ["number", "problem", "first", "second", *parts, "source"], "no empty columns"
    first, missing, caption, same = found.to_dict("records")
    where = place(own, single.scores[0])
    assert (first["tiny score"], first["tiny reading"]) == (f"{single.scores[0]:.6g}", where.reading)
    assert float(first["tiny percentile"]) == pytest.approx(where.percentile, rel=1e-5)
    assert (first["source"], first["problem"]) == ("computed live; calibrated on Drawn pairs (synthetic)", "")
    assert "none.png" in missing["problem"] and {missing[part] for part in parts} == {""}
    assert [bool(caption[part]) for part in parts] == [True, False, False, False]
    assert (caption["source"], caption["problem"]) == ("computed live; not calibrated", "")
    assert [float(same[part]) for part in parts[::3]] == pytest.approx([1, 1], abs=1e-5)


def test_judges_are_counted_and_a_turn_ends_where_they_must_wait():
    waits, judge = iter([0.0, 4.0, 3.0, 0.0]), Judge()
    models = ONE, replace(model("judge"), adapter="endpoint")
    begun = work("a,b,c", "d,e,f", models=models, judges=lambda: next(waits))
    begun.turn(judge, seconds=1000)
    assert (begun.record()["pause"], begun.record()["state"]) == (4.0, "running")
    assert judge.asked == [("one", "c"), ("one", "f"), ("judge", "c")], "the second must wait"
    begun.turn(judge)
    assert begun.record()["pause"] == 3.0 and len(judge.asked) == 3
    begun.turn(judge)
    assert begun.record()["state"] == "done" and judge.asked[-1] == ("judge", "f")


def test_a_turn_ends_in_time_and_models_change_places_every_ten_rows():
    begun, judge = work(*(f"a,b,{number}" for number in range(12))), Judge()
    for _ in range(11):
        begun.turn(judge, seconds=0)
    record = begun.record()
    assert [record[name] for name in ("state", "done", "share")] == ["running", 1, pytest.approx(11 / 24)]
    assert 20 < record["left"] < 100, "a pair takes some three seconds of this clock"
    finished(begun, judge)
    assert [key for key, _ in judge.asked] == ["one"] * 10 + ["two"] * 10 + ["one"] * 2 + ["two"] * 2
    assert begun.record()["share"] == 1.0


def test_after_a_stop_the_finished_part_is_there():
    begun, judge = work(*(f"{number},b,c" for number in range(12))), Judge()
    for _ in range(15):
        begun.turn(judge, seconds=0)
    begun.stop()
    record, found = begun.record(), read(begun)
    assert [record[name] for name in ("state", "done", "of", "left")] == ["stopped", 5, 12, None]
    assert found["name"].tolist() == [str(number) for number in range(10)]
    assert found["problem"].tolist() == [""] * 5 + ["two: Stopped before its turn"] * 5
    assert (found["one score"] != "").all() and (found["two score"] != "").sum() == 5
    begun.turn(judge)
    assert begun.record() == record and len(judge.asked) == 15


def test_failures_are_reasons_and_never_scores():
    begun = work("a,b,c", "b,,c", "c,b,no two", "d,b,crash", "e,example:nobody,x", "f,b,cc")
    found = finished(begun, Judge())
    for problem, word in zip(found["problem"], ("", "empty", "two: It compares", "failed", "nobody", ""), strict=True):
        assert word in problem and bool(word) == bool(problem)
    assert (found["one score"] != "").tolist() == [True, False, True, False, False, True]
    assert (found["two score"] != "").tolist() == [True, False, False, False, False, True]
    record = begun.record()
    assert record["problems"] == 4 and record["done"] == 6
    heads, first, empty, *_ = record["preview"]
    assert heads == list(found) and first[1] == "" and "empty" in empty[1]


@pytest.mark.parametrize(
    "score, unit, cells, problem",
    [
        (float("nan"), "cosine", ("", "", ""), "one: It gave no number"),
        (float("inf"), "cosine", ("inf", "100", "as matching pairs"), ""),
        (-0.000012345678, "cosine", ("-1.23457e-05", "0", "as unrelated pairs"), ""),
        (7.5, "rating", ("7.5", "", "a rating from 1 to 10"), ""),
    ],
)
def test_numbers_have_six_digits(score, unit, cells, problem):
    found = finished(work("a,b,c", models=(ONE,)), Judge(held("one"), score=score, unit=unit))
    assert tuple(found.iloc[0].get(f"one {part}", "") for part in ("score", "percentile", "reading")) == cells
    assert found["problem"][0] == problem


def test_the_preview_is_the_first_rows_and_every_distribution_is_named_once():
    begun = work(*["a,b,cc"] * 11, models=tuple(map(model, ("one", "two", "three"))))
    found = finished(begun, Judge(held("one"), held("three", source="Captions", synthetic=False)))
    record = begun.record()
    assert record["preview"] == [list(found), *found.head(10).to_numpy().tolist()]
    assert record["why"] == "No percentile: it is not calibrated (TWO)."
    assert record["source"] == "computed live; calibrated on Drawn pairs (synthetic) and Captions"


def test_text_is_given_back_shortened_and_is_no_formula():
    begun = work('=1+1,"-2+3 ""x"", y",@SUM(A1)', f"+a,{'y' * 300},\u2028x", models=(model("=evil"),))
    finished(begun, Judge())
    lines = list(csv.reader(io.StringIO(begun.record()["csv"])))
    assert lines[1][2:5] == ["'=1+1", '\'-2+3 "x", y', "'@SUM(A1)"]
    assert lines[2][2] == "'+a" and lines[2][3] == "y" * 199 + "…"
    assert lines[0][5] == "'=evil score" and {len(line) for line in lines} == {7}


PIXELS = replace(model("pixels"), abilities=("embed_image",))


class Catalogue(Judge):
    """Stands in for Live where tables begin: three models, one of which is here."""

    def __init__(self):
        super().__init__()
        self.uploads = Uploads()
        self.roster = self.live = self

    def admit(self, request):
        """Nobody is sent away."""

    def judges(self, request, *, pressed):
        return None

    def row(self, key):
        return PIXELS if key == PIXELS.key else model(key)

    def models(self, keys):
        return Live.models(self, keys)

    def listed(self, *, mode, kinds):
        rows = [row for row in (PIXELS, model("words")) if not cannot(row, mode, kinds)]
        return [Listed(row=row, availability=self.availability(row), loaded=False, usual=True) for row in rows]

    def availability(self, row):
        away, impossible = Availability(state="download"), Availability(state="impossible", why="Needs a package")
        return {"far": away, "not": impossible}.get(row.key, Availability(state="ready"))

    def payload(self, session=SESSION, keys=("one",), rows=1):
        file = self.uploads.add_file(session, b"first,second\n" + b"a,b\n" * rows)
        return {"session": session, "file": file, "models": list(keys), "turn": 7}


@pytest.mark.parametrize(
    "keys, word",
    [(["one", "far"], "FAR"), (["not"], "package"), ([f"m{number}" for number in range(13)], "13")],
)
def test_models_that_cannot_be_asked_are_told_before_anything_begins(keys, word):
    catalogue = Catalogue()
    with pytest.raises(BadInput, match=word):
        Tables(catalogue).start(catalogue.payload(keys=keys), None)


def test_only_models_that_compare_a_pair_of_the_table_score_it():
    """Where none of those that were chosen does, the usual one."""
    catalogue = Catalogue()
    for keys, asked in ((["one", "pixels"], "one"), ([], "words"), (["pixels"], "words")):
        begun = Tables(catalogue).start(catalogue.payload(keys=keys), None)
        assert [row.key for row in begun.models] == [asked]


def test_a_session_has_one_table_and_takes_it_along(monkeypatch):
    catalogue = Catalogue()
    started = Tables(catalogue)
    with pytest.raises(BadInput, match="no longer"):
        started.turn({"session": SESSION})
    monkeypatch.setattr(PairScoring.turn, "__kwdefaults__", {"seconds": 0})
    first = started.start(catalogue.payload(rows=5), None)
    second = started.start(catalogue.payload(rows=5), None)
    assert first.batch is None and second.batch and started.turn({"session": SESSION}) is second
    assert started.stop({"session": SESSION}).record()["state"] == "stopped"
    catalogue.uploads.forget(SESSION)
    with pytest.raises(BadInput, match="no longer"):
        started.stop({"session": SESSION})


def test_one_visitors_tables_leave_room_and_an_idle_one_makes_room(monkeypatch):
    monkeypatch.setattr(PairScoring.turn, "__kwdefaults__", {"seconds": 0})
    monkeypatch.setattr(batch, "sender", lambda request: request)
    catalogue = Catalogue()
    started, begun = Tables(catalogue), []

    def start(sender):
        begun.append(started.start(catalogue.payload(f"{len(begun):016x}", rows=5), sender))

    for _ in range(batch.MOST_OF_SENDER):
        start("a")
    with pytest.raises(BadInput, match="network"):
        start("a")
    for _ in range(batch.MOST - batch.MOST_OF_SENDER):
        start("b")
    with pytest.raises(BadInput, match="other visitors"):
        start("c")
    begun[2].used -= batch.IDLE
    start("c")
    assert begun[2].batch is None and all(each.batch for each in (*begun[:2], *begun[3:]))


def event(payload):
    return SimpleNamespace(_data=payload)


def test_what_fails_is_a_sentence_with_the_turn_of_its_request():
    catalogue = Catalogue()
    tables = Tables(catalogue)
    failed = json.loads(answered(event({"session": "fedcba9876543210", "turn": 3}), tables.turn))
    assert failed["state"] == "failed" and "no longer" in failed["message"] and failed["turn"] == 3
    done = json.loads(answered(event(catalogue.payload()), lambda payload: tables.start(payload, None)))
    assert done["state"] == "done" and done["turn"] == 7
    marked = SimpleNamespace(record=lambda: {"csv": "<b>"})
    assert "<" not in answered(event("nonsense"), lambda payload: marked)
