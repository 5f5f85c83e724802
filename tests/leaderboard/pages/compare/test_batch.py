"""Tables of pairs scored turn by turn: the numbers of single comparisons, a reason for every score that is missing."""

from __future__ import annotations

import csv
import gc
import io
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from compute.analysis.calibrated import Reference, place
from compute.analysis.domain import IMAGE_FACTS, Calibrations, Domain, DomainCheck
from compute.live import batch as tables
from compute.live.models.availability import Availability
from compute.live.question import Answer, LiveQuestion
from compute.types import BadInput, Model
from leaderboard.live.live import Live
from leaderboard.live.uploads import Uploads
from leaderboard.pages.compare import admission, batch
from leaderboard.pages.compare.batch import DONE, RUNNING, STOPPED, PairScoring, Tables
from leaderboard.pages.compare.batch_table import preview, source, table
from leaderboard.web.errors import FAILED
from tests.compute.live import zips
from tests.compute.live.pictures import png
from tests.leaderboard.pages.compare.clock import Clock

SESSION = "0123456789abcdef"
NONE = Calibrations()


class Judge:
    """Stands in for Live where models are asked: a score by the second text's length, and what it was asked."""

    def __init__(self, *, score: float | None = None, unit: str = "cosine") -> None:
        self.asked: list[tuple[str, str]] = []
        self.score, self.unit = score, unit

    def answers(
        self,
        question: LiveQuestion,
        rows: Sequence[Model],
        *,
        cache: dict,
        calibrations: Calibrations,
        controls: bool,
        judges: object = None,
    ) -> Iterator[Answer]:
        for row in rows:
            assert not controls, "unrelated examples would be compared for nothing"
            text = question.inputs[1].content
            self.asked.append((row.key, text))
            cache["vector", row.key, text] = np.zeros(1_000_000, np.float32)
            if text == "crash":
                raise RuntimeError("what nobody expected")
            if text == f"no {row.key}":
                yield Answer(model=row.key, problem="It compares no texts")
            else:
                held = calibrations.reference(row.key, "text-text", "drawn") if self.unit == "cosine" else None
                yield Answer(
                    model=row.key,
                    scores=(len(text) / 7 if self.score is None else self.score,),
                    unit=self.unit,
                    domain=DomainCheck(reference=held),
                )


def model(key: str) -> Model:
    return Model(key=key, title=key.upper(), kind="encoder")


def reference(
    key: str, pairing: str = "text-text", *, source: str = "Drawn pairs", synthetic: bool = True
) -> Reference:
    return Reference(
        model=key,
        pairing=pairing,
        unrelated=np.linspace(0, 1, 11),
        matching=np.linspace(0.5, 2, 11),
        n_unrelated=100,
        n_matching=100,
        separation=0.9,
        source=source,
        synthetic=synthetic,
        domain="drawn",
        scenes=100,
    )


def anywhere(key: str) -> Domain:
    """A domain of every image."""
    low = np.zeros(len(IMAGE_FACTS))
    return Domain(model=key, name="drawn", modality="image", scenes=100, false_outside=0, low=low, high=low + np.inf)


def work(*lines: str, keys: Sequence[str] = ("one", "two")) -> PairScoring:
    data = "\n".join(["name,first,second", *lines]).encode()
    return PairScoring(batch=tables.read(data), models=tuple(map(model, keys)), clock=Clock())


def finished(begun: PairScoring, judge: Judge, calibrations: Calibrations = NONE) -> pd.DataFrame:
    while not begun.over:
        begun.turn(judge, calibrations)
    return read(begun)


def read(begun: PairScoring) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(table(begun.models, begun.pairs())), dtype=str, keep_default_na=False)


@pytest.fixture(scope="module")
def live() -> Live:
    return Live()


@pytest.fixture(scope="module")
def uploaded(live: Live) -> str:
    table = b"first,second\nexample:astronaut,red.png\nred.png,none.png\nexample:text-cat,red.png\nred.png,red.png\n"
    return live.uploads.add_file(SESSION, zips.packed({"pairs.csv": table, "red.png": png("red", (64, 64))}))


def test_real_models_give_the_numbers_of_single_comparisons(live: Live, uploaded: str) -> None:
    held = reference("tiny", "image-image")
    calibrations = Calibrations(references=(held,), domains=(anywhere("tiny"),))
    begun = Tables(live).start(SESSION, uploaded, ["tiny", "ssim"])
    (single,) = live.answers(
        begun.batch.question(begun.rows[0]), [live.roster.row("tiny")], calibrations=NONE, controls=False
    )
    while not begun.over:
        progress = begun.turn(live, calibrations)
    assert (progress.state, progress.done, progress.of, progress.left, progress.problems) == (DONE, 4, 4, None, 2)
    found = read(begun)
    assert list(found) == [
        "number",
        "name",
        "first",
        "second",
        "tiny score",
        "tiny percentile",
        "tiny reading",
        "ssim score",
        "ssim percentile",
        "ssim reading",
        "source",
        "problem",
    ]
    first, missing, caption, same = found.to_dict("records")
    assert first["tiny score"] == f"{single.scores[0]:.6g}"
    assert float(first["tiny percentile"]) == pytest.approx(place(held, single.scores[0]).percentile, rel=1e-5)
    assert first["tiny reading"] == place(held, single.scores[0]).reading
    assert first["source"] == "computed live; calibrated on Drawn pairs (synthetic)" and first["problem"] == ""
    assert missing["problem"].startswith("There is no image none.png in the ZIP")
    assert {value for name, value in missing.items() if name.startswith(("tiny", "ssim", "source"))} == {""}
    assert caption["tiny score"] and caption["tiny percentile"] == "" and caption["ssim score"] == ""
    assert caption["problem"].startswith("ssim: ") and caption["source"] == "computed live; not calibrated"
    assert float(same["tiny score"]) == pytest.approx(1, abs=1e-5) and float(same["ssim score"]) == pytest.approx(1)


def test_an_image_in_many_pairs_is_encoded_once(live: Live) -> None:
    others = "".join(f"red.png,example:{key}\n" for key in ("cat", "coffee", "rocket"))
    file = live.uploads.add_file(
        SESSION, zips.packed({"a.csv": f"first,second\n{others}".encode(), "red.png": png("red", (48, 48))})
    )
    begun = Tables(live).start(SESSION, file, ["tiny"])
    seen: list[list[tuple]] = []
    judge = live.answers

    class Watching:
        def answers(
            self,
            question: LiveQuestion,
            rows: Sequence[Model],
            *,
            cache: dict,
            calibrations: Calibrations,
            controls: bool,
            judges: object,
        ) -> Iterator:
            before = set(cache)
            yield from judge(question, rows, cache=cache, calibrations=calibrations, controls=controls)
            seen.append([name for name in cache if name not in before and name[0] == "vector"])

    while not begun.over:
        begun.turn(Watching(), NONE)
    assert [len(names) for names in seen] == [2, 1, 1]
    assert begun.batch is None and begun._cache == {}


def priced(keys: Sequence[str], *, judges: object) -> PairScoring:
    """A table of two pairs; the model named judge answers through the host's endpoint."""
    rows = tuple(replace(model(key), adapter="endpoint" if key == "judge" else "") for key in keys)
    data = b"name,first,second\na,b,c\nd,e,f"
    return PairScoring(batch=tables.read(data), models=rows, judges=judges, clock=Clock())


def test_judges_are_counted_and_a_turn_ends_where_they_must_wait() -> None:
    waits, judge = iter([0.0, 4.0, 3.0, 0.0]), Judge()
    begun = priced(("one", "judge"), judges=lambda: next(waits))
    progress = begun.turn(judge, NONE, seconds=1000)
    assert (progress.pause, progress.state) == (4.0, RUNNING)
    assert judge.asked == [("one", "c"), ("one", "f"), ("judge", "c")], "the second must wait"
    assert begun.turn(judge, NONE).pause == 3.0 and len(judge.asked) == 3
    progress = begun.turn(judge, NONE)
    assert (progress.pause, progress.state, judge.asked[-1]) == (0.0, DONE, ("judge", "f"))


def test_judges_score_no_table_by_themselves(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKENESS_ENDPOINT", "http://127.0.0.1:9/v1")
    live.roster.forget(live.roster.row("gpt-4o-2024-11-20"))
    file = live.uploads.add_file(SESSION, b"first,second\nexample:cat,example:cat-face\n")
    begun = Tables(live).start(SESSION, file, ["gpt-4o-2024-11-20"])
    begun.turn(live, NONE)
    assert "asked only when Compare is pressed" in read(begun)["problem"][0]
    live.roster.forget(live.roster.row("gpt-4o-2024-11-20"))


def test_a_turn_ends_in_time_and_the_next_goes_on() -> None:
    begun, judge = work(*["a,b,c"] * 7, keys=("one",)), Judge()
    progress = begun.turn(judge, NONE, seconds=0)
    assert (progress.state, progress.done, progress.share, len(judge.asked)) == (RUNNING, 1, pytest.approx(1 / 7), 1)
    progress = begun.turn(judge, NONE, seconds=8)  # the clock goes on three times a pair
    assert (progress.done, len(judge.asked)) == (4, 4)
    progress = begun.turn(judge, NONE, seconds=1e9)
    assert (progress.state, progress.done, progress.share, progress.left) == (DONE, 7, 1.0, None)
    assert begun.turn(judge, NONE) == progress and len(judge.asked) == 7


def test_models_change_places_every_ten_rows_and_a_pair_is_done_with_the_last() -> None:
    begun, judge = work(*(f"a,b,{number}" for number in range(12))), Judge()
    for _ in range(11):
        progress = begun.turn(judge, NONE, seconds=0)
    assert [key for key, _ in judge.asked] == ["one"] * 10 + ["two"] and progress.done == 1
    while not begun.over:
        begun.turn(judge, NONE, seconds=0)
    assert [key for key, _ in judge.asked] == ["one"] * 10 + ["two"] * 10 + ["one"] * 2 + ["two"] * 2


def test_the_time_left_counts_the_turns_of_others() -> None:
    begun = work(*["a,b,c"] * 10, keys=("one",))

    class Loading(Judge):
        def answers(
            self,
            question: LiveQuestion,
            rows: Sequence[Model],
            *,
            cache: dict,
            calibrations: Calibrations,
            controls: bool,
            judges: object,
        ) -> Iterator:
            begun.clock.now += 0 if self.asked else 1000
            return super().answers(question, rows, cache=cache, calibrations=calibrations, controls=controls)

    judge = Loading()
    assert begun.turn(judge, NONE, seconds=0).left is None, "the first answer took as long as the model's loading"
    left = [begun.turn(judge, NONE, seconds=0).left for _ in range(3)]
    assert 30 > left[0] >= left[1] >= left[2] > 6
    begun.clock.now += 5000  # others were at work
    assert begun.turn(judge, NONE, seconds=0).left > 3 * left[2]


def test_after_a_stop_the_finished_part_is_there() -> None:
    begun, judge = work(*(f"{number},b,c" for number in range(12))), Judge()
    for _ in range(15):
        begun.turn(judge, NONE, seconds=0)
    progress = begun.stop()
    assert (progress.state, progress.done, progress.of, progress.left) == (STOPPED, 5, 12, None)
    found = read(begun)
    assert found["name"].tolist() == [str(number) for number in range(10)]
    assert found["problem"].tolist() == [""] * 5 + ["two: Stopped before its turn"] * 5
    assert (found["one score"] != "").all() and (found["two score"] != "").sum() == 5
    assert begun.turn(judge, NONE) == progress and len(judge.asked) == 15 and begun.batch is None


def test_a_stop_during_a_turn_ends_it_after_its_pair() -> None:
    begun, reached, go = work(*["a,b,c"] * 5, keys=("one",)), threading.Event(), threading.Event()

    class Slow(Judge):
        def answers(
            self,
            question: LiveQuestion,
            rows: Sequence[Model],
            *,
            cache: dict,
            calibrations: Calibrations,
            controls: bool,
            judges: object,
        ) -> Iterator:
            reached.set()
            assert go.wait(10)
            return super().answers(question, rows, cache=cache, calibrations=calibrations, controls=controls)

    judge = Slow()
    turn = threading.Thread(target=begun.turn, args=(judge, NONE), kwargs={"seconds": 1e9})
    turn.start()
    assert reached.wait(10)
    assert begun.stop().state == STOPPED and begun.pairs() == []
    go.set()
    turn.join(10)
    assert len(judge.asked) == 1 and len(read(begun)) == 1 and begun.batch is None


def test_failures_are_reasons_and_never_scores() -> None:
    begun = work("a,b,c", "b,,c", "c,b,no two", "d,b,crash", "e,example:nobody,x", "f,b,cc")
    found = finished(begun, Judge())
    assert found["problem"].tolist() == [
        "",
        "The cell in the column first is empty. Write a text or name an image",
        "two: It compares no texts",
        FAILED,
        found["problem"][4],
        "",
    ]
    assert "There is no example 'nobody'" in found["problem"][4]
    assert (found["one score"] != "").tolist() == [True, False, True, False, False, True]
    assert (found["two score"] != "").tolist() == [True, False, False, False, False, True]
    assert begun.progress().problems == 4 and begun.progress().done == 6


@pytest.mark.parametrize(
    ("score", "cells", "problem"),
    [
        (float("nan"), ("", "", ""), "one: It gave no number"),
        (float("inf"), ("inf", "100", "as matching pairs"), ""),
        (-0.000012345678, ("-1.23457e-05", "0", "as unrelated pairs"), ""),
        (123456.789, ("123457", "100", "as matching pairs"), ""),
    ],
)
def test_numbers_have_six_digits(score: float, cells: tuple[str, str, str], problem: str) -> None:
    found = finished(work("a,b,c", keys=("one",)), Judge(score=score), Calibrations(references=(reference("one"),)))
    assert tuple(found.iloc[0][["one score", "one percentile", "one reading"]]) == cells
    assert found["problem"][0] == problem


def test_a_judges_rating_has_no_percentile() -> None:
    found = finished(
        work("a,b,c", keys=("one",)), Judge(score=7.5, unit="rating"), Calibrations(references=(reference("one"),))
    )
    assert tuple(found.iloc[0][["one score", "one percentile", "one reading", "source"]]) == (
        "7.5",
        "",
        "a rating from 1 to 10",
        "computed live; not calibrated",
    )


def test_the_source_names_every_distribution_once_and_says_which_is_synthetic() -> None:
    held = (reference("one"), reference("two"), reference("three", source="Captions", synthetic=False))
    calibrations = Calibrations(references=held)
    found = finished(work("a,b,c", keys=("one", "two", "three", "four")), Judge(), calibrations)
    assert found["source"][0] == "computed live; calibrated on Drawn pairs (synthetic) and Captions"


def test_text_is_given_back_shortened_and_is_no_formula() -> None:
    begun = work('=1+1,"-2+3 ""x"", y",@SUM(A1)', f"+a,{'y' * 300},\u2028x", keys=("=evil",))
    finished(begun, Judge())
    lines = list(csv.reader(io.StringIO(table(begun.models, begun.pairs()))))
    assert lines[1][1:4] == ["'=1+1", '\'-2+3 "x", y', "'@SUM(A1)"]
    assert lines[2][1] == "'+a" and lines[2][2] == "y" * 199 + "…"
    assert lines[0][4] == "'=evil score" and {len(line) for line in lines} == {9}


@pytest.mark.parametrize("stopped", [False, True])
def test_what_is_over_holds_only_what_its_results_repeat(stopped: bool) -> None:
    begun = work(*[f"{'n' * 50_000},{'a' * 90_000},{'b' * 90_000}"] * 5, keys=("one",))
    assert all(len(row.name) < 300 for row in begun.rows), "a name is only repeated"
    assert begun.nbytes > 900_000
    begun.turn(Judge(), NONE, seconds=0)
    before = table(begun.models, begun.pairs())
    begun.stop() if stopped else finished(begun, Judge())
    assert begun.nbytes < 20_000 and table(begun.models, begun.pairs()).startswith(before)
    assert read(begun)["first"][0] == "a" * 199 + "…" and read(begun)["name"][0] == "n" * 199 + "…"


def test_the_preview_is_for_people() -> None:
    begun = work(*["a,b,cc"] * 11, keys=("one", "two"))
    finished(begun, Judge(), Calibrations(references=(reference("one"),)))
    heads, *rows = preview(begun.models, begun.pairs())
    assert heads == ["No.", "Name", "First", "Second", "ONE", "TWO", "Problem"] and len(rows) == 10
    cells = [cell for pair in begun.pairs() for cell in pair.scores]
    assert source(cells) == "computed live; calibrated on Drawn pairs (synthetic)" and source([]) == ""
    assert rows[0] == ["1", "a", "b", "cc", "14: as unrelated pairs", "0.285714 (not calibrated)", ""]


def test_encodings_are_bounded() -> None:
    begun, judge = work(*(f"a,b,{number}" for number in range(40)), keys=("one", "two")), Judge()
    most = 0
    while not begun.over:
        begun.turn(judge, NONE, seconds=0)
        most = max(most, sum(map(batch._bytes, begun._cache.values())))
    assert batch.CACHE_BYTES < most <= batch.CACHE_BYTES + batch.CHUNK * 4_000_000


class Catalogue:
    """Stands in for Live where tables begin: three models, one of which is here."""

    def __init__(self) -> None:
        self.uploads = Uploads(sweep=None)
        self.roster = self

    def table(self, session: str, key: str) -> tables.Batch:
        return tables.read(self.uploads.file(session, key))

    def row(self, key: str) -> Model:
        if not key.startswith("m"):
            raise BadInput(f"There is no model {key!r} in the catalogue")
        return model(key)

    def models(self, keys: Sequence[object]) -> list[Model]:
        return Live.models(self, keys)

    def availability(self, row: Model) -> Availability:
        away, impossible = Availability(state="download"), Availability(state="impossible", why="Needs a package")
        return {"m-far": away, "m-not": impossible}.get(row.key, Availability(state="ready"))

    def begin(
        self, scorings: Tables, session: str = SESSION, keys: Sequence[str] = ("m",), sender: str = ""
    ) -> PairScoring:
        return scorings.start(session, self.uploads.add_file(session, b"first,second\na,b\n"), keys, sender=sender)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ([], "No model is selected: tick at least one"),
        (["x"], "There is no model 'x'"),
        (["m", "m-far"], "M-FAR is not on this machine yet. Compare one pair with it first"),
        (["m-not"], "M-NOT cannot run here: Needs a package. Untick it"),
        ([f"m{number}" for number in range(13)], "13 models are too many for one question"),
    ],
)
def test_models_that_cannot_be_asked_are_told_before_anything_begins(keys: list[str], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        Catalogue().begin(Tables(Catalogue()), keys=keys)


def test_a_session_has_one_table_and_takes_it_along() -> None:
    catalogue = Catalogue()
    scorings = Tables(catalogue)
    with pytest.raises(BadInput, match="The table is no longer available. Add it again"):
        scorings.current(SESSION)
    first = catalogue.begin(scorings)
    assert scorings.current(SESSION) is first
    second = catalogue.begin(scorings)
    assert scorings.current(SESSION) is second and first.over and not second.over
    with pytest.raises(BadInput, match="no longer available"):
        scorings.current("fedcba9876543210")
    catalogue.uploads.forget(SESSION)
    with pytest.raises(BadInput, match="no longer available"):
        scorings.current(SESSION)
    del first, second
    gc.collect()
    assert len(scorings._admission._work) == 0


def test_one_visitors_tables_leave_room_for_others() -> None:
    catalogue, clock = Catalogue(), Clock()
    scorings = Tables(catalogue, clock=clock)
    own = [
        catalogue.begin(scorings, session=f"{number:016x}", sender="203.0.113.9")
        for number in range(batch.MOST_OF_SENDER)
    ]
    with pytest.raises(BadInput, match="6 tables from your network are being scored, which is the most"):
        catalogue.begin(scorings, session="a" * 16, sender="203.0.113.9")
    others = [
        catalogue.begin(scorings, session=f"{number:016x}", sender="198.51.100.1")
        for number in range(100, 100 + batch.MOST - batch.MOST_OF_SENDER)
    ]
    with pytest.raises(BadInput, match="8 other visitors' tables are being scored"):
        catalogue.begin(scorings, session="b" * 16, sender="198.51.100.1")
    assert len(others) == 2 and not any(each.over for each in own + others)
    clock.now += admission.IDLE
    newest = catalogue.begin(scorings, session="c" * 16, sender="203.0.113.9")
    assert own[0].over and not any(each.over for each in [*own[1:], *others, newest]), "its own makes room, if left"


def test_few_tables_are_at_work_at_once_and_one_that_was_left_gives_way() -> None:
    catalogue, clock = Catalogue(), Clock()
    scorings = Tables(catalogue, most=2, clock=clock)
    first, second = (catalogue.begin(scorings, session=f"{number:016x}") for number in range(2))
    with pytest.raises(BadInput, match="2 other visitors' tables are being scored"):
        catalogue.begin(scorings, session=f"{2:016x}")
    clock.now += admission.IDLE
    second.turn(Judge(), NONE, seconds=0)
    assert second.over
    third = catalogue.begin(scorings, session=f"{3:016x}")
    assert not first.over, "there is room: the second is done"
    fourth = catalogue.begin(scorings, session=f"{4:016x}")
    assert first.over and not third.over and not fourth.over
