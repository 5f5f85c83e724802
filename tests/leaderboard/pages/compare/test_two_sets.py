"""Two sets of images in turns: the work is shared out, can be stopped, and every failure is a sentence."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from compute.live.decoder.pool import DecoderUnavailable
from compute.live.inputs import Input
from compute.live.measured_sets import METRICS
from compute.live.models.availability import Availability
from compute.live.two_sets import GENERATED, REFERENCE, ImagePack, TwoSets
from compute.types import BadInput, Model
from leaderboard.live.live import Live
from leaderboard.live.uploads import Uploads
from leaderboard.pages.compare import two_sets, two_sets_section
from leaderboard.pages.compare.admission import IDLE
from leaderboard.pages.compare.sets_report import report
from leaderboard.pages.compare.turns import answered
from leaderboard.pages.compare.two_sets import DONE, RUNNING, STOPPED, SetRuns, SetsRun
from tests.compute.live import zips
from tests.compute.live.pictures import png
from tests.compute.live.test_two_sets import colours, last, pack, squares
from tests.leaderboard.pages.compare.clock import Clock

SESSION = "0123456789abcdef"
COLOURS = Model(key="m", title="Colours", kind="encoder", abilities=("embed_image",))


class Encoding:
    """Stands in for Live: an encoder of colours, and how many images went through it at once."""

    def __init__(self) -> None:
        self.uploads, self.roster, self.sizes = Uploads(sweep=None), self, []

    def run(self, row: Model, job: Any, images: Sequence[Input], known: dict) -> tuple[np.ndarray, dict]:
        self.sizes.append(len(images))
        return colours(images), {}

    def row(self, key: str) -> Model:
        if not key.startswith("m"):
            raise BadInput(f"There is no model {key!r} in the catalogue")
        abilities = ("embed_text",) if key == "m-text" else ("embed_image",)
        return Model(key=key, title=key.upper(), kind="encoder", abilities=abilities)

    def availability(self, row: Model) -> Availability:
        away = Availability(state="impossible", why="Needs a package")
        return away if row.key == "m-not" else Availability(state="ready")

    def listed(self) -> list[Any]:
        rows = map(self.row, ("m", "m-text", "m-not"))
        return [SimpleNamespace(row=row, availability=self.availability(row)) for row in rows]

    def files(self, session: str = SESSION) -> dict[str, str]:
        data = {REFERENCE: zips.packed(squares(8, seed=0)), GENERATED: zips.packed(squares(6, seed=1))}
        return {role: self.uploads.add_file(session, content) for role, content in data.items()}

    def begin(self, runs: SetRuns, session: str = SESSION, key: str = "m", sender: str = "") -> SetsRun:
        return runs.start(session, self.files(session), key, sender=sender)


def run_of(clock: Callable[[], float], count: int = 40) -> SetsRun:
    files = squares(count, seed=0)
    return SetsRun(sets=TwoSets(packs={REFERENCE: pack(files), GENERATED: pack(files)}), encoder=COLOURS, clock=clock)


def test_a_turn_ends_in_time_and_the_next_goes_on() -> None:
    live, run = Encoding(), run_of(Clock())
    progress = run.turn(live, seconds=0)
    assert (progress.state, progress.done, progress.of, progress.left) == (RUNNING, 1, 80, None), "an image, to load"
    progress = run.turn(live, seconds=0)
    assert progress.done > 1 and progress.left > 0
    while not run.over:
        progress = run.turn(live, seconds=5)
    assert (progress.state, progress.done, progress.left) == (DONE, 80, None) and run.sets is None
    assert run.turn(live) == progress


def test_a_slow_encoder_gets_fewer_images_at_once() -> None:
    fast, slow = Encoding(), Encoding()
    quick = run_of(lambda: 0.0)
    while not quick.over:
        quick.turn(fast, seconds=1e9)
    lazy = run_of(Clock())
    while not lazy.over:
        lazy.turn(slow, seconds=0)
    assert max(fast.sizes) == two_sets.CHUNK and set(slow.sizes) == {1}


def test_the_metrics_are_computed_in_turns_too() -> None:
    live, run = Encoding(), run_of(lambda: 0.0)
    while run.turn(live, seconds=0).done < 80:
        pass
    encoded, turns = len(live.sizes), 0
    while not run.over:
        assert run.turn(live, seconds=0).done == 80
        turns += 1
    assert turns > 30 and len(live.sizes) == encoded and run.result.counts == {REFERENCE: 40, GENERATED: 40}


def test_a_stop_drops_everything_at_once() -> None:
    live, run = Encoding(), run_of(Clock())
    run.turn(live, seconds=0)
    assert run.stop().state == STOPPED and run.over and run.sets is None
    assert run.turn(live).state == STOPPED and len(live.sizes) == 1


def test_it_waits_for_a_decoder_and_gives_up_in_the_end() -> None:
    def busy(name: str) -> Input:
        raise DecoderUnavailable("Many images are being read")

    packs = {role: ImagePack(names=("a",), read=busy) for role in (REFERENCE, GENERATED)}
    run = SetsRun(sets=TwoSets(packs=packs), encoder=COLOURS, clock=Clock())
    for _ in range(two_sets.ATTEMPTS - 1):
        assert run.turn(Encoding()).pause == two_sets.PAUSE
    with pytest.raises(DecoderUnavailable):
        run.turn(Encoding())
    assert run.over and run.sets is None


def test_a_failure_ends_the_run() -> None:
    packs = {REFERENCE: pack({"a.png": b"no image"}), GENERATED: pack(squares(2, seed=1))}
    run = SetsRun(sets=TwoSets(packs=packs), encoder=COLOURS, clock=Clock())
    with pytest.raises(BadInput, match=r"No image of the reference set can be used. The first: a.png cannot be used"):
        run.turn(Encoding(), seconds=1e9)
    assert run.over and run.sets is None


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("x", "There is no model 'x'"),
        ("m-text", "M-TEXT does not embed images on this machine"),
        ("m-not", "M-NOT cannot run here: Needs a package"),
    ],
)
def test_an_encoder_that_cannot_do_it_is_told_before_anything_begins(key: str, sentence: str) -> None:
    live = Encoding()
    with pytest.raises(BadInput, match=sentence):
        live.begin(SetRuns(live), key=key)


def test_only_ready_encoders_are_offered() -> None:
    assert SetRuns(Encoding()).encoders() == [{"key": "m", "title": "M"}]
    keys = [each["key"] for each in SetRuns(Live()).encoders()]
    assert "tiny" in keys and not {"ssim", "gpt-4o-2024-11-20"} & set(keys)


def test_a_session_has_one_comparison_and_takes_it_along() -> None:
    live = Encoding()
    runs = SetRuns(live)
    with pytest.raises(BadInput, match="The comparison is no longer available. Add the sets again"):
        runs.current(SESSION)
    first, second = live.begin(runs), live.begin(runs)
    assert runs.current(SESSION) is second and first.over and not second.over
    live.uploads.forget(SESSION)
    with pytest.raises(BadInput, match="no longer available"):
        runs.current(SESSION)
    del first, second
    gc.collect()
    assert len(runs._admission._work) == 0


def test_one_visitors_sets_leave_room_for_others() -> None:
    live, clock = Encoding(), Clock()
    runs = SetRuns(live, clock=clock)
    own = [live.begin(runs, session=f"{number:016x}", sender="203.0.113.9") for number in range(2)]
    with pytest.raises(BadInput, match="2 comparisons of sets from your network are running, which is the most"):
        live.begin(runs, session="a" * 16, sender="203.0.113.9")
    others = [live.begin(runs, session=f"b{number:015x}", sender=f"203.0.113.{number}") for number in range(2)]
    with pytest.raises(BadInput, match="4 other visitors' comparisons of sets are running"):
        live.begin(runs, session="c" * 16, sender="203.0.113.77")
    clock.now += IDLE
    live.begin(runs, session="c" * 16, sender="203.0.113.77")
    assert own[0].over and not any(run.over for run in (own[1], *others))


def test_both_files_of_50_mb_stay_until_they_are_read() -> None:
    uploads = Uploads(sweep=None)
    data = [bytes([number]) * two_sets_file for number, two_sets_file in enumerate((50_000_000, 50_000_000))]
    keys = [uploads.add_file(SESSION, each) for each in data]
    assert [len(uploads.file(SESSION, key)) for key in keys] == [50_000_000] * 2


@pytest.fixture(scope="module")
def site() -> Any:
    panel = SimpleNamespace(live=Live(), admit=lambda request: None)
    return SimpleNamespace(panel=panel)


def finished(site: Any, runs: SetRuns, payload: Mapping[str, Any]) -> dict[str, Any]:
    state = two_sets_section.started(site, runs, dict(payload), None)
    while state["state"] == RUNNING:
        state = two_sets_section.turned(site, runs, dict(payload))
    return state


def test_the_drawn_sets_are_compared_and_marked_as_synthetic(site: Any) -> None:
    runs = SetRuns(site.panel.live)
    payload = {"session": SESSION, "reference": "example", "generated": "example", "encoder": "tiny"}
    state = finished(site, runs, payload)
    assert state["state"] == DONE and state["done"] == state["of"] == 256
    words = state["report"]
    assert words["about"].startswith("Synthetic: scenes drawn by this program, the generated ones blurred.")
    assert len(words["rows"]) == 1 + len(METRICS) and all(len(row) == len(words["heads"]) for row in words["rows"])
    distance, kernel = words["rows"][:2]
    assert distance[0] == "FD ↓" and " to " in distance[2] and " to " in distance[3] and kernel[0] == "KID × 1000 ↓"
    assert words["notes"][0].startswith("The sets differ by FD, KID")
    assert any("FD is too high with few images: alike sets of 128 and 128" in line for line in words["notes"])
    assert json.dumps(words, allow_nan=False)


def test_a_report_of_one_image_a_side_says_why_there_is_no_number(site: Any) -> None:
    live = site.panel.live
    files = {
        role: live.uploads.add_file(SESSION, zips.packed({"a.png": png(colour)}))
        for role, colour in ((REFERENCE, "red"), (GENERATED, "blue"))
    }
    state = finished(site, SetRuns(live), {"session": SESSION, **files, "encoder": "tiny"})
    words = state["report"]
    assert all(row[1:] == ["—"] * 4 for row in words["rows"])
    assert words["notes"][0].startswith("No FD: ") and words["notes"][1].startswith("No KID: KID needs two images")


def test_what_is_skipped_or_repeated_is_listed(site: Any) -> None:
    live = site.panel.live
    names = [f"x{number}.txt" for number in range(25)]
    shared = squares(3, seed=0)
    files = {
        REFERENCE: live.uploads.add_file(SESSION, zips.packed(shared | dict.fromkeys(names, b"x"))),
        GENERATED: live.uploads.add_file(
            SESSION, zips.packed(squares(40, seed=1) | {"same.png": [*shared.values()][1]})
        ),
    }
    words = finished(site, SetRuns(live), {"session": SESSION, **files, "encoder": "tiny"})["report"]
    lists = {each["title"]: each for each in words["lists"]}
    skipped = lists["25 files of the reference set skipped"]
    assert len(skipped["lines"]) == 20 and skipped["more"] == 5
    assert lists["1 generated image with the pixels of a reference image"]["lines"] == ["same.png = a folder/001.png"]
    assert any(line.startswith("1 of 41 generated images is also in the reference set") for line in words["notes"])


def of_features(reference: np.ndarray, generated: np.ndarray) -> dict[str, Any]:
    """The report of two sets of features, each row an image."""
    sets = TwoSets(packs={role: ImagePack(names=(), read=lambda name: None) for role in (REFERENCE, GENERATED)})
    for part, rows in zip(sets.sets.values(), (reference, generated), strict=True):
        part.names = [f"{number}.png" for number in range(len(rows))]
        part.pixels, part.features = [row.tobytes() for row in rows], list(rows)
    return report(last(sets), synthetic=False)


RANDOM = np.random.default_rng(0).normal(size=(40, 24))


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7, 29])
def test_few_images_give_numbers_or_reasons_and_no_interval(count: int) -> None:
    words = of_features(RANDOM[:count], RANDOM[-count:] + 0.1)
    assert not any("nan" in cell or "inf" in cell.lower() for row in words["rows"] for cell in row[1:])
    assert [row[2] for row in words["rows"]] == ["—"] * 6
    assert "There is no interval below 30 images a set: none would hold." in words["notes"]
    undefined = [row[0] for row in words["rows"] if row[1] == "—"]
    assert len(undefined) == (4 if count < 4 else 2 if count < 6 else 0)
    assert json.dumps(words, allow_nan=False)


@pytest.mark.parametrize(
    ("reference", "generated", "sentence"),
    [
        (RANDOM, RANDOM, "By FD and KID the sets are nearer than all of"),
        (RANDOM * 0 + 0.3, RANDOM * 0 + 0.3, "No difference shows by FD, KID, Precision, Recall, Density and Coverage"),
        (RANDOM, RANDOM + 3, "The sets differ by FD, KID, Precision, Recall, Density and Coverage"),
        (RANDOM, RANDOM[:1].repeat(40, 0), "The sets differ by FD, KID, Recall, Density and Coverage"),
    ],
    ids=["identical", "constant", "shifted", "collapsed"],
)
def test_the_words_say_what_the_splits_show(reference: np.ndarray, generated: np.ndarray, sentence: str) -> None:
    words = of_features(reference, generated)
    assert any(line.startswith(sentence) for line in words["notes"]), words["notes"]
    assert not any("nan" in cell for row in words["rows"] for cell in row)


@pytest.mark.parametrize("payload", [None, [], {"session": 7}, {"session": SESSION, "reference": {}, "encoder": []}])
def test_nonsense_is_a_sentence(site: Any, payload: Any) -> None:
    runs = SetRuns(site.panel.live)
    text = answered(payload, lambda facts: two_sets_section.started(site, runs, facts, None), action="A comparison")
    facts = json.loads(text)
    assert facts["state"] == "failed" and facts["message"] and "Traceback" not in text


def test_the_report_takes_every_backbone(site: Any) -> None:
    """With Inception-v3's features the distance is FID and nothing is said of another scale."""
    made = SetsRun(
        sets=TwoSets(packs={REFERENCE: pack(squares(40, seed=0)), GENERATED: pack(squares(40, seed=1))}),
        encoder=Model(key="inception-v3", title="InceptionV3", kind="encoder", abilities=("embed_image",)),
        clock=Clock(),
    )
    while not made.over:
        made.turn(Encoding())
    words = report(made.result, synthetic=False)
    assert words["rows"][0][0] == "FID ↓" and not any("another scale" in line for line in words["notes"])
